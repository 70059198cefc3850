package session

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/failure"
	"thundercollective/internal/membership"
)

// noticeSize is the length of every message on the control channel.
const noticeSize = 512

// noticeTag marks them.
var noticeTag = fabric.Tag{'n', 'o', 't', 'i', 'c', 'e'}

type noticeKind uint8

// What ranks tell each other beside the data.
const (
	noticeGoodbye  noticeKind = 1 + iota // the sender leaves in good order
	noticeLost                           // rankA is dead
	noticeMismatch                       // rankA and rankB disagree
	noticeTimeout                        // rankA's deadline passed
	noticeAbort                          // rankA ends the group on purpose
	noticeWhere                          // the sender waits in tagA, its seq-th: and you?
	noticeHere                           // the sender's latest is tagA, its seq-th
	noticeBeat                           // the sender is alive
	noticeAccuse                         // rankB lost rankA, at nanos of its clock; its connection broke if seq is 1
	noticeGone                           // rankA left in good order, but the group needed it
	noticeMember                         // a step of the agreement on who is left of the group
	noticeWithdraw                       // rankB heard from rankA again, at nanos of its clock
)

// A notice is one such message.
type notice struct {
	kind         noticeKind
	group        uint32
	seq          uint64
	rankA, rankB uint32
	nanos        uint64
	tagA         fabric.Tag
	text, text2  string // cut to what fits
}

const (
	noticeFixed = 4 + 4 + 8 + 4 + 4 + 8 + fabric.TagSize
	textSize    = (noticeSize - noticeFixed) / 2
)

// encode lays a notice out in its fixed size.
func (n *notice) encode(b *[noticeSize]byte) {
	le := binary.LittleEndian
	*b = [noticeSize]byte{}
	b[0] = byte(n.kind)
	le.PutUint32(b[4:], n.group)
	le.PutUint64(b[8:], n.seq)
	le.PutUint32(b[16:], n.rankA)
	le.PutUint32(b[20:], n.rankB)
	le.PutUint64(b[24:], n.nanos)
	copy(b[32:], n.tagA[:])
	putText(b[noticeFixed:noticeFixed+textSize], n.text)
	putText(b[noticeFixed+textSize:], n.text2)
}

// parseNotice reads one back. Any bytes give a notice; unknown kinds are ignored
// by those that receive them.
func parseNotice(b *[noticeSize]byte) *notice {
	le := binary.LittleEndian
	return &notice{
		kind: noticeKind(b[0]), group: le.Uint32(b[4:]), seq: le.Uint64(b[8:]),
		rankA: le.Uint32(b[16:]), rankB: le.Uint32(b[20:]), nanos: le.Uint64(b[24:]),
		tagA: fabric.Tag(b[32 : 32+fabric.TagSize]),
		text: getText(b[noticeFixed : noticeFixed+textSize]), text2: getText(b[noticeFixed+textSize:]),
	}
}

// A text is its length in one byte and as much of it as fits.
func putText(b []byte, s string) {
	s = s[:min(len(s), len(b)-1, 255)]
	b[0] = byte(len(s))
	copy(b[1:], s)
}

func getText(b []byte) string { return string(b[1 : 1+min(int(b[0]), len(b)-1)]) }

// noticeOf returns the notice that tells others why a group ended; nil if the reason
// concerns only this rank.
func noticeOf(group uint32, err error) *notice {
	switch e := err.(type) {
	case *failure.PeerLostError:
		if e.Left {
			return &notice{kind: noticeGone, group: group, rankA: uint32(e.Rank), text: e.Cause, text2: e.Host}
		}
		return &notice{kind: noticeLost, group: group, rankA: uint32(e.Rank), text: e.Cause}
	case *failure.MismatchError:
		return &notice{kind: noticeMismatch, group: group, seq: e.Sequence, rankA: uint32(e.RankA), rankB: uint32(e.RankB), text: e.CallA, text2: e.CallB}
	case *failure.TimeoutError:
		return &notice{kind: noticeTimeout, group: group, rankA: uint32(e.Rank), nanos: uint64(e.After), text: e.Operation, text2: strings.Join(e.Missing, "; ")}
	case *failure.AbortError:
		return &notice{kind: noticeAbort, group: group, rankA: uint32(e.Rank), text: e.Reason}
	}
	return nil
}

// err returns the error that a notice of a group's end carries.
func (n *notice) err() error {
	switch n.kind {
	case noticeMismatch:
		return &failure.MismatchError{Sequence: n.seq, RankA: int(n.rankA), RankB: int(n.rankB), CallA: n.text, CallB: n.text2}
	case noticeTimeout:
		e := &failure.TimeoutError{Rank: int(n.rankA), Operation: n.text, After: time.Duration(n.nanos)}
		if n.text2 != "" {
			e.Missing = strings.Split(n.text2, "; ")
		}
		return e
	case noticeAbort:
		return &failure.AbortError{Rank: int(n.rankA), Reason: n.text}
	case noticeGone:
		return &failure.PeerLostError{Rank: int(n.rankA), Host: n.text2, Cause: n.text, Left: true}
	}
	return fmt.Errorf("thunder: notice of kind %d", n.kind)
}

// noticeOfMember carries a step of a group's agreement on who is left.
func noticeOfMember(group uint32, m *membership.Message) *notice {
	return &notice{kind: noticeMember, group: group, seq: uint64(m.Kind), rankA: m.Ballot, rankB: m.Last, text: string(m.Set.Bytes())}
}

// member returns what noticeOfMember carried, without sender and receiver.
func (n *notice) member() membership.Message {
	return membership.Message{Kind: membership.Kind(n.seq), Ballot: n.rankA, Last: n.rankB, Set: membership.SetFrom([]byte(n.text))}
}
