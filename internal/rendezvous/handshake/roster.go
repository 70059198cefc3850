package handshake

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"strings"
	"unicode/utf8"
)

// A Roster is what a rank was told about the job that its peers must have been told too.
// The hello carries its sum. If two sums differ, the acceptor refuses with the code
// RosterDiffers, and the ends exchange what they need to say in what: the dialer calls
// Compare, the acceptor Answer.
type Roster struct {
	lines []Line
	sum   uint64
}

// A Line is one part of a Roster.
type Line struct {
	Name string // a phrase that the value completes: "rank 1 is at"
	Fix  string // what to do if the values differ
	// Shape is what must be the same at both ends in any case: "2 addresses".
	Shape string
	// Text is the value in full. It must be the same if both ends have one: a rank may
	// know its peers by other addresses than they do themselves.
	Text string
}

// NewRoster returns the Roster of some lines, at least one.
func NewRoster(lines []Line) *Roster {
	shapes, texts := fnv.New32a(), fnv.New32a()
	full := true
	for i := range lines {
		fmt.Fprintf(shapes, "%q", lines[i].Shape)
		fmt.Fprintf(texts, "%q", lines[i].Text)
		full = full && lines[i].Text != ""
	}
	return &Roster{lines, sum(shapes.Sum32(), texts.Sum32(), full)}
}

// Sum returns a digest of r for Hello.Roster; 0 if there is nothing to compare.
func (r *Roster) Sum() uint64 {
	if r == nil {
		return 0
	}
	return r.sum
}

func (l *Line) sum() uint64 {
	shape, text := fnv.New32a(), fnv.New32a()
	io.WriteString(shape, l.Shape)
	io.WriteString(text, l.Text)
	return sum(shape.Sum32(), text.Sum32(), l.Text != "")
}

// sum puts two digests together. Half of a sum is 0 if it is not to be compared.
func sum(shape, text uint32, full bool) uint64 {
	if !full {
		return uint64(max(shape, 1)) << 32
	}
	return uint64(max(shape, 1))<<32 | uint64(max(text, 1))
}

// SumsAgree reports whether two sums are of rosters that agree. One that is 0 agrees with
// all.
func SumsAgree(a, b uint64) bool {
	return a == 0 || b == 0 || a>>32 == b>>32 && (uint32(a) == uint32(b) || uint32(a) == 0 || uint32(b) == 0)
}

// value is what a line is shown as.
func (l *Line) value() string {
	if l.Text != "" {
		return printable(l.Text)
	}
	return printable(l.Shape)
}

const (
	maxLines = 1 << 13
	maxValue = 1 << 10
	noLine   = 1<<32 - 1 // no line differs
)

// errLines reports that the ends have rosters of a different make.
var errLines = errors.New("the lists of the two ranks have nothing in common")

// Compare tells the acceptor, which refused this rank with RosterDiffers, what this rank
// believes. It returns a *RejectedError whose text says in what the two differ. conn is as
// Dial left it.
func (r *Roster) Compare(conn io.ReadWriter, self, peer int) error {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(r.lines)))
	for i := range r.lines {
		b = binary.BigEndian.AppendUint64(b, r.lines[i].sum())
	}
	if _, err := conn.Write(b); err != nil {
		return differ(err)
	}
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return differ(err)
	}
	at := binary.BigEndian.Uint32(head[:])
	if at >= uint32(len(r.lines)) {
		return differ(errLines)
	}
	theirs, err := readValue(conn)
	if err == nil {
		err = writeValue(conn, r.lines[at].value())
	}
	if err != nil {
		return differ(err)
	}
	return r.lines[at].differs(self, r.lines[at].value(), peer, theirs)
}

// Answer is the acceptor's part of Compare, after Accept has refused the dialer.
func (r *Roster) Answer(conn io.ReadWriter, self, peer int) error {
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return differ(err)
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxLines {
		return differ(errLines)
	}
	sums := make([]byte, 8*n)
	if _, err := io.ReadFull(conn, sums); err != nil {
		return differ(err)
	}
	at := uint32(noLine)
	for i := range r.lines {
		if int(n) == len(r.lines) && !SumsAgree(r.lines[i].sum(), binary.BigEndian.Uint64(sums[8*i:])) {
			at = uint32(i)
			break
		}
	}
	if _, err := conn.Write(binary.BigEndian.AppendUint32(nil, at)); err != nil {
		return differ(err)
	}
	if at == noLine {
		return differ(errLines)
	}
	if err := writeValue(conn, r.lines[at].value()); err != nil {
		return differ(err)
	}
	theirs, err := readValue(conn)
	if err != nil {
		return differ(err)
	}
	return r.lines[at].differs(self, r.lines[at].value(), peer, theirs)
}

// differ is what is known if the ends could not find out in what they differ.
func differ(err error) error {
	return &RejectedError{Code: RosterDiffers, Vague: true, Text: fmt.Sprintf("the ranks' hostfiles, address lists or cables differ (%v); give all ranks the same", err)}
}

// differs explains that two ranks have different values of l. The lower rank comes first,
// so that both say the same.
func (l *Line) differs(a int, valueA string, b int, valueB string) error {
	if a > b {
		a, valueA, b, valueB = b, valueB, a, valueA
	}
	valueA, valueB = aroundDifference(cutTo(valueA, maxValue), cutTo(valueB, maxValue))
	return &RejectedError{Code: RosterDiffers, Text: fmt.Sprintf("%s %s according to rank %d, but %s according to rank %d; %s",
		l.Name, valueA, a, valueB, b, l.Fix)}
}

// aroundDifference leaves out what long lists begin with, if it is the same in both.
func aroundDifference(a, b string) (string, string) {
	const long, sep = 120, ", "
	if len(a) <= long && len(b) <= long {
		return a, b
	}
	itemsA, itemsB := strings.Split(a, sep), strings.Split(b, sep)
	same := 0
	for same < min(len(itemsA), len(itemsB))-1 && itemsA[same] == itemsB[same] {
		same++
	}
	show := func(items []string) string {
		text := strings.Join(items[same:], sep)
		if same > 0 {
			text = "..., " + text
		}
		if len(text) > long {
			text = cutTo(text, long) + "..."
		}
		return text
	}
	return show(itemsA), show(itemsB)
}

func writeValue(w io.Writer, text string) error {
	text = cutTo(text, maxValue)
	_, err := w.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(text))), text...))
	return err
}

func readValue(r io.Reader) (string, error) {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return "", err
	}
	n := binary.BigEndian.Uint16(head[:])
	if n > maxValue {
		return "", fmt.Errorf("a value of %d bytes", n)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return "", err
	}
	return printable(string(text)), nil
}

// cutTo cuts s to n bytes, between two runes.
func cutTo(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[:n]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s
}
