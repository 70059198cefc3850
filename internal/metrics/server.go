package metrics

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Addr reads where to listen: host:port, or a port alone, which is on loopback. Each
// rank of a machine has its own port, counted up from there by its number on the
// machine, unless the port is 0.
func Addr(text string, local int) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host, port = "127.0.0.1", text
	}
	n, err := strconv.Atoi(port)
	if err != nil || n < 0 || n > 65535 {
		return "", fmt.Errorf("metrics: %q is neither a port nor host:port", text)
	}
	if host == "" {
		return "", fmt.Errorf("metrics: %q would listen everywhere; say 0.0.0.0%s if that is meant, or %s for this machine alone", text, text, port)
	}
	if n > 0 {
		n += local
	}
	if n > 65535 {
		return "", fmt.Errorf("metrics: port %d for rank %d of this machine does not exist", n, local)
	}
	return net.JoinHostPort(host, strconv.Itoa(n)), nil
}

// A Server answers scrapes.
type Server struct {
	ln   net.Listener
	http *http.Server
	done chan struct{}
}

// Serve listens at addr and answers with the pages given, by path.
func Serve(addr string, pages map[string]http.HandlerFunc) (*Server, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	mux := http.NewServeMux()
	for path, page := range pages {
		mux.HandleFunc("GET "+path, page)
	}
	s := &Server{
		ln: ln, done: make(chan struct{}),
		http: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10},
	}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(ln) // ends with Close
	}()
	return s, nil
}

// Addr is where the server listens.
func (s *Server) Addr() string { return s.ln.Addr().String() }

// Close ends the server; an answer under way gets a moment.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = s.http.Close()
	}
	<-s.done
	return err
}
