package fabrictest

import (
	"context"
	"errors"
	"testing"

	"thundercollective/fabric"
)

var errStop = errors.New("stop, said the test")

func testCancelRecv(t *testing.T, h Harness) {
	fs, a, _ := pair(t, h, 1)
	defer closeAll(t, fs)
	ctx, cancel := context.WithCancelCause(context.Background())
	got := make(chan error, 1)
	go func() { got <- a.Recv(ctx, tagOf(1), make([]byte, 8)) }()
	cancel(errStop)
	within(t, "a cancelled receive", func() {
		if err := <-got; !errors.Is(err, errStop) {
			t.Errorf("got %v, want the cause of the context", err)
		}
	})
	if err := a.Recv(context.Background(), tagOf(1), make([]byte, 8)); err == nil {
		t.Error("the link receives on after a cancelled call")
	}
}

func testCancelSend(t *testing.T, h Harness) {
	fs, a, _ := pair(t, h, 1)
	defer closeAll(t, fs)
	ctx, cancel := context.WithCancelCause(context.Background())
	got := make(chan error, 1)
	go func() { got <- sendUntilError(ctx, a, h.Large) }()
	cancel(errStop)
	within(t, "a cancelled send", func() {
		if err := <-got; !errors.Is(err, errStop) {
			t.Errorf("got %v, want the cause of the context", err)
		}
	})
	if err := fabric.Send(context.Background(), a, tagOf(1), make([]byte, 8)); err == nil {
		t.Error("the link sends on after a cancelled call")
	}
}

// sendUntilError fills the path until a send blocks and fails.
func sendUntilError(ctx context.Context, l fabric.Link, n int) error {
	buf := make([]byte, n)
	for i := 0; ; i++ {
		if err := fabric.Send(ctx, l, tagOf(i), buf); err != nil {
			return err
		}
	}
}

// testCancelLink asks for a link that the peer never asks for. A provider that
// needs the peer has to give up with the context; one that does not succeeds.
func testCancelLink(t *testing.T, h Harness) {
	fs := start(t, h, 2)
	defer closeAll(t, fs)
	ctx, cancel := context.WithCancelCause(context.Background())
	got := make(chan error, 1)
	go func() {
		_, err := fs[0].Link(ctx, 1, 5)
		got <- err
	}()
	cancel(errStop)
	within(t, "a cancelled Link", func() {
		if err := <-got; err != nil && !errors.Is(err, errStop) {
			t.Errorf("got %v, want nil or the cause of the context", err)
		}
	})
}

// wantLost fails unless err says that rank peer is gone.
func wantLost(t *testing.T, err error, peer int) {
	t.Helper()
	var le *fabric.LostError
	if !errors.As(err, &le) || le.Peer != peer {
		t.Errorf("got %v, want a LostError for rank %d", err, peer)
	}
}

func testDeathReceiving(t *testing.T, h Harness) {
	fs, a, b := pair(t, h, 1)
	defer closeAll(t, fs)
	ctx := context.Background()
	got := make(chan error, 1)
	go func() { got <- a.Recv(ctx, tagOf(1), make([]byte, h.Large)) }()
	// Part of a message is on its way when the sender dies.
	sending := make(chan error, 1)
	go func() { sending <- fabric.Send(ctx, b, tagOf(2), make([]byte, 8)) }()
	within(t, "the last message", func() {
		if err := <-sending; err != nil {
			t.Errorf("send: %v", err)
		}
		if err := <-got; err == nil {
			t.Error("received a message that was not sent")
		}
	})
	h.Kill(fs[1])
	a2 := make(chan error, 1)
	go func() { a2 <- sendUntilError(ctx, a, 1<<20) }()
	within(t, "a send to a dead peer", func() { wantLost(t, <-a2, 1) })
}

func testDeathSending(t *testing.T, h Harness) {
	fs, a, b := pair(t, h, 1)
	defer closeAll(t, fs)
	ctx := context.Background()
	recv, send, posted := make(chan error, 1), make(chan error, 1), make(chan error, 1)
	go func() { recv <- a.Recv(ctx, tagOf(1), make([]byte, 8)) }()
	go func() { send <- sendUntilError(ctx, a, h.Large) }() // nobody receives it
	go func() { posted <- b.Recv(ctx, tagOf(99), make([]byte, 8)) }()
	h.Kill(fs[1])
	within(t, "calls on a link to a dead peer", func() {
		wantLost(t, <-recv, 1)
		wantLost(t, <-send, 1)
		if err := <-posted; err == nil {
			t.Error("the dead rank received something")
		}
	})
	wantLost(t, a.Recv(ctx, tagOf(1), make([]byte, 8)), 1)
}

func testCloseUnblocks(t *testing.T, h Harness) {
	fs, a, _ := pair(t, h, 1)
	testUnblocks(t, h, a, fs[0].Close)
	if _, err := fs[0].Link(context.Background(), 1, 2); !errors.Is(err, fabric.ErrClosed) {
		t.Errorf("Link on a closed fabric: %v, want ErrClosed", err)
	}
	closeAll(t, fs)
}

func testLinkCloseUnblocks(t *testing.T, h Harness) {
	fs, a, b := pair(t, h, 1)
	testUnblocks(t, h, a, a.Close)
	within(t, "the other end", func() {
		wantLost(t, drain(b), 0)
	})
	closeAll(t, fs)
}

// drain receives the large messages of testUnblocks until the link ends.
func drain(l fabric.Link) error {
	for i := 0; ; i++ {
		err := l.RecvFunc(context.Background(), tagOf(i), 8<<20, func(int, []byte) error { return nil })
		if err != nil {
			return err
		}
	}
}

func testUnblocks(t *testing.T, h Harness, l fabric.Link, closer func() error) {
	ctx := context.Background()
	recv, send := make(chan error, 1), make(chan error, 1)
	go func() { recv <- l.Recv(ctx, tagOf(1), make([]byte, 8)) }()
	go func() { send <- sendUntilError(ctx, l, 8<<20) }()
	within(t, "close", func() {
		if err := closer(); err != nil {
			t.Errorf("close: %v", err)
		}
		for name, c := range map[string]chan error{"recv": recv, "send": send} {
			if err := <-c; !errors.Is(err, fabric.ErrClosed) {
				t.Errorf("%s blocked in Close returned %v, want ErrClosed", name, err)
			}
		}
	})
}

func testDeliveredBeforeClose(t *testing.T, h Harness) {
	fs, a, b := pair(t, h, 1)
	ctx := context.Background()
	buf := make([]byte, 3000)
	for i := range 5 {
		fill(buf, i)
		if err := fabric.Send(ctx, a, tagOf(i), buf); err != nil {
			t.Fatal(err)
		}
	}
	if err := fs[0].Close(); err != nil {
		t.Fatal(err)
	}
	within(t, "receiving what was sent before close", func() {
		for i := range 5 {
			if err := recvWhole(ctx, b, i, make([]byte, 3000)); err != nil {
				t.Errorf("message %d: %v", i, err)
				return
			}
		}
		wantLost(t, b.Recv(ctx, tagOf(5), buf), 0)
	})
	closeAll(t, fs)
}
