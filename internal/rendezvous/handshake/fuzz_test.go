package handshake

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"
)

func FuzzHello(f *testing.F) {
	w := encodeHello(testHello, nonce{1, 2, 3})
	f.Add(w[:])
	f.Fuzz(func(t *testing.T, b []byte) {
		var w helloWire
		copy(w[:], b)
		h, err := parseHello(&w)
		if err != nil {
			return
		}
		if again := encodeHello(h, nonce(w[44:])); again != w {
			t.Errorf("%x decodes to %+v, which encodes to %x", w, h, again)
		}
	})
}

func FuzzChallenge(f *testing.F) {
	w := encodeChallenge(nonce{1}, macSum{2})
	f.Add(w[:])
	f.Fuzz(func(t *testing.T, b []byte) {
		var w challengeWire
		copy(w[:], b)
		n, m, err := parseChallenge(&w)
		if err != nil {
			return
		}
		if again := encodeChallenge(n, m); again != w {
			t.Errorf("%x encodes to %x", w, again)
		}
	})
}

func FuzzProof(f *testing.F) {
	w := encodeProof(macSum{1})
	f.Add(w[:])
	w = refusal()
	f.Add(w[:])
	f.Fuzz(func(t *testing.T, b []byte) {
		var w proofWire
		copy(w[:], b)
		m, refused, err := parseProof(&w)
		if err != nil {
			return
		}
		again := encodeProof(m)
		if refused {
			again = refusal()
		}
		if again != w {
			t.Errorf("%x encodes to %x", w, again)
		}
	})
}

func FuzzVerdict(f *testing.F) {
	w := encodeVerdict(WrongSize, "4 ranks here, 5 there")
	f.Add(w[:])
	w = encodeVerdict(codeOK, "")
	f.Add(w[:])
	f.Fuzz(func(t *testing.T, b []byte) {
		var w verdictWire
		copy(w[:verdictBody], b)
		c, text, err := parseVerdict(&w)
		if err != nil {
			return
		}
		if again := encodeVerdict(c, text); again != w {
			t.Errorf("%x encodes to %x", w, again)
		}
	})
}

// FuzzAccept feeds arbitrary bytes to an acceptor and a dialer that know a token:
// neither may accept them as a peer.
func FuzzAccept(f *testing.F) {
	hello := encodeHello(testHello, nonce{1, 2, 3})
	proof := encodeProof(macSum{1})
	challenge := encodeChallenge(nonce{1}, macSum{2})
	f.Add(append(hello[:], proof[:]...))
	f.Add(challenge[:])
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := Accept(&script{in: bytes.NewReader(b)}, []byte("k"), anyone); err == nil {
			t.Errorf("Accept took %x", b)
		}
		if err := Dial(&script{in: bytes.NewReader(b)}, testHello, []byte("k")); err == nil {
			t.Errorf("Dial took %x", b)
		}
	})
}

// A script is a connection whose peer sends in, whatever it receives.
type script struct{ in io.Reader }

func (s *script) Read(b []byte) (int, error)     { return s.in.Read(b) }
func (*script) Write(b []byte) (int, error)      { return len(b), nil }
func (*script) Close() error                     { return nil }
func (*script) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (*script) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (*script) SetDeadline(time.Time) error      { return nil }
func (*script) SetReadDeadline(time.Time) error  { return nil }
func (*script) SetWriteDeadline(time.Time) error { return nil }
