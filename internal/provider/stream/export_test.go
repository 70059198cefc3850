package stream

// Hang keeps the connection from saying anything more, as a cable that hangs does.
func (c *Conn) Hang() {
	c.writing.Lock()
	go func() {
		<-c.closed
		c.writing.Unlock()
	}()
}
