package thunder

import (
	"testing"

	"thundercollective/fabric"
)

// FuzzCall decodes any tag, describes it, and encodes it back.
func FuzzCall(f *testing.F) {
	ok := (&call{generation: 1, group: 2, seq: 3, kind: KindAllReduce, op: Sum, dtype: F32, algo: Ring, count: 1 << 40}).tag()
	f.Add(ok[:])
	f.Add(make([]byte, fabric.TagSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < fabric.TagSize {
			return
		}
		tag := fabric.Tag(b)
		c := callOf(&tag)
		if c.String() == "" {
			t.Error("no description")
		}
		if back := c.tag(); back != tag {
			t.Errorf("%x became %x", tag, back)
		}
	})
}

// FuzzNotice reads any notice, and reads what it writes of it as the same one.
func FuzzNotice(f *testing.F) {
	for _, err := range []error{
		&PeerLostError{Rank: 3, Cause: "gone"},
		&MismatchError{Sequence: 9, RankA: 1, RankB: 2, CallA: "barrier", CallB: "allreduce"},
		&TimeoutError{Rank: 1, Operation: "barrier", After: 5},
		&AbortError{Rank: 1, Reason: "because"},
	} {
		var b [noticeSize]byte
		noticeOf(7, err).encode(&b)
		f.Add(b[:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < noticeSize {
			return
		}
		n := parseNotice((*[noticeSize]byte)(b))
		if n.err() == nil {
			t.Error("no error")
		}
		var again [noticeSize]byte
		n.encode(&again)
		if *parseNotice(&again) != *n {
			t.Errorf("%+v became %+v", n, parseNotice(&again))
		}
	})
}

// FuzzHear lets a rank hear anything from a peer; it must survive it.
func FuzzHear(f *testing.F) {
	for kind := range noticeMember + 2 {
		var b [noticeSize]byte
		(&notice{kind: kind, group: worldID, seq: 1, rankA: 1}).encode(&b)
		f.Add(b[:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < noticeSize {
			return
		}
		comms, err := Local(2, Options{})
		if err != nil {
			t.Fatal(err)
		}
		j := comms[0].job
		j.hear(j.peers[1], parseNotice((*[noticeSize]byte)(b)))
		for _, c := range comms {
			c.Close()
		}
	})
}
