package leaks

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestFind(t *testing.T) {
	defer func(n int) { attempts = n }(attempts)
	attempts = 1
	Check(t)
	before := goleak.IgnoreCurrent()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { defer close(stopped); <-stop }()
	if err := Find(before); err == nil || !strings.Contains(err.Error(), "TestFind") {
		t.Errorf("got %v, want the goroutine of this test", err)
	}
	close(stop)
	<-stopped
	if err := Find(before); err != nil {
		t.Error(err)
	}
}
