package handshake

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
)

// A recorder keeps what its owner writes.
type recorder struct {
	net.Conn
	log bytes.Buffer
}

func (r *recorder) Write(b []byte) (int, error) {
	r.log.Write(b)
	return r.Conn.Write(b)
}

// record returns what the two ends of a good session wrote.
func record(t *testing.T) (dialer, acceptor []byte) {
	t.Helper()
	c, s := pipe(t)
	client, server := &recorder{Conn: c}, &recorder{Conn: s}
	acc := acceptOn(server, "k", anyone)
	if err := dialOn(client, testHello, "k"); err != nil {
		t.Fatal(err)
	}
	if got := <-acc; got.err != nil {
		t.Fatal(got.err)
	}
	return client.log.Bytes(), server.log.Bytes()
}

func wantAuthError(t *testing.T, who string, err error) {
	t.Helper()
	if _, ok := errors.AsType[*AuthError](err); !ok {
		t.Errorf("%s: got %v, want an *AuthError", who, err)
	}
}

func TestReplay(t *testing.T) {
	dialer, acceptor := record(t)

	client, server := tcp(t)
	acc := acceptOn(server, "k", func(Hello) error { t.Error("admitted a replay"); return nil })
	client.Write(dialer)
	wantAuthError(t, "replayed dialer", (<-acc).err)

	client, server = tcp(t)
	server.Write(acceptor)
	wantAuthError(t, "replayed acceptor", dialOn(client, testHello, "k"))
}

// TestReflection sends the acceptor's own MAC back to it as the dialer's.
func TestReflection(t *testing.T) {
	client, server := tcp(t)
	acc := acceptOn(server, "k", func(Hello) error { t.Error("admitted a reflection"); return nil })
	hello := encodeHello(testHello, newNonce())
	client.Write(hello[:])
	var cw challengeWire
	if _, err := io.ReadFull(client, cw[:]); err != nil {
		t.Fatal(err)
	}
	_, m, perr := parseChallenge(&cw)
	if perr != nil {
		t.Fatal(perr)
	}
	proof := encodeProof(m)
	client.Write(proof[:])
	wantAuthError(t, "reflection", (<-acc).err)
}

// TestMirror has a peer that echoes everything, as a connection to oneself does.
func TestMirror(t *testing.T) {
	client, server := tcp(t)
	go io.Copy(server, server)
	_, ok := errors.AsType[*ProtocolError](dialOn(client, testHello, "k"))
	if !ok {
		t.Error("a mirror passed for a rank")
	}
}

// TestWrongOracle is the attack that the authenticated verdict prevents: a stranger at
// rank 2's address lets rank 3, which knows the token, answer the challenge, and then
// forges the ok.
func TestWrongOracle(t *testing.T) {
	client, stranger := tcp(t)
	toOracle, oracle := tcp(t)
	acc := acceptOn(oracle, "k", func(h Hello) error {
		if h.To != 3 {
			return &RejectedError{Code: WrongRank, Text: "this is rank 3"}
		}
		return nil
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.CopyN(toOracle, stranger, int64(helloSize))
		io.CopyN(stranger, toOracle, int64(challengeSize))
		io.CopyN(toOracle, stranger, int64(proofSize))
		var vw verdictWire
		io.ReadFull(toOracle, vw[:])
		vw[1], vw[2] = uint8(codeOK), 0
		clear(vw[3:verdictBody])
		stranger.Write(vw[:])
	}()
	wantAuthError(t, "dialer", dialOn(client, testHello, "k"))
	<-done
	if err := (<-acc).err; err == nil {
		t.Error("the oracle admitted the dialer")
	}
}

// TestTampering flips one bit of every byte that either end sends, one at a time:
// no session with a changed byte may succeed at both ends.
func TestTampering(t *testing.T) {
	for _, size := range []int{helloSize, proofSize} {
		for i := range size {
			client, server := pipe(t)
			acc := acceptOn(server, "k", anyone)
			derr := dialOn(&patcher{client, size, func(b []byte) { b[i] ^= 0x10 }}, testHello, "k")
			if aerr := (<-acc).err; derr == nil || aerr == nil {
				t.Fatalf("dialer's message of %d bytes, byte %d: Dial = %v, Accept = %v", size, i, derr, aerr)
			}
		}
	}
	for _, size := range []int{challengeSize, verdictSize} {
		for i := range size {
			client, server := pipe(t)
			acc := acceptOn(&patcher{server, size, func(b []byte) { b[i] ^= 0x10 }}, "k", anyone)
			if err := dialOn(client, testHello, "k"); err == nil {
				t.Fatalf("acceptor's message of %d bytes, byte %d: Dial succeeded", size, i)
			}
			<-acc
		}
	}
}

func TestForgedProof(t *testing.T) {
	client, server := tcp(t)
	acc := acceptOn(server, "k", func(Hello) error { t.Error("admitted a forger"); return nil })
	hello := encodeHello(testHello, newNonce())
	client.Write(hello[:])
	if _, err := io.CopyN(io.Discard, client, int64(challengeSize)); err != nil {
		t.Fatal(err)
	}
	proof := encodeProof(macSum{1})
	client.Write(proof[:])
	wantAuthError(t, "forger", (<-acc).err)
	// The forger gets a verdict, not silence.
	var vw verdictWire
	if _, err := io.ReadFull(client, vw[:]); err != nil || Code(vw[1]) != codeAuth {
		t.Errorf("verdict %d, %v", vw[1], err)
	}
}
