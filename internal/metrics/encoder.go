package metrics

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Label is a name and what it stands for here.
type Label struct{ Name, Value string }

// An Encoder writes one scrape. All series carry the labels it was made with.
type Encoder struct {
	buf   bytes.Buffer
	fixed []Label
	named map[string]bool // those whose help was written
}

// NewEncoder returns an Encoder whose series all carry the labels given.
func NewEncoder(labels ...Label) *Encoder { return &Encoder{fixed: labels, named: map[string]bool{}} }

// Bytes is what was written.
func (e *Encoder) Bytes() []byte { return e.buf.Bytes() }

// Counter writes the value of something that only grows. Series of the same name
// have to come one after the other.
func (e *Encoder) Counter(name, help string, value uint64, labels ...Label) {
	e.head(name, help, "counter")
	e.line(name, labels, strconv.FormatUint(value, 10))
}

// Gauge writes the value of something that goes up and down.
func (e *Encoder) Gauge(name, help string, value float64, labels ...Label) {
	e.head(name, help, "gauge")
	e.line(name, labels, number(value))
}

// Histogram writes a Histogram of seconds.
func (e *Encoder) Histogram(name, help string, h *Histogram, labels ...Label) {
	e.head(name, help, "histogram")
	sum := time.Duration(h.nanos.Load()).Seconds()
	n := uint64(0)
	for i := range h.counts {
		n += h.counts[i].Load()
		le := "+Inf"
		if i < buckets {
			le = number(bound(i))
		}
		e.line(name+"_bucket", append(labels[:len(labels):len(labels)], Label{"le", le}), strconv.FormatUint(n, 10))
	}
	e.line(name+"_sum", labels, number(sum))
	e.line(name+"_count", labels, strconv.FormatUint(n, 10))
}

func (e *Encoder) head(name, help, kind string) {
	if !e.named[name] {
		e.named[name] = true
		fmt.Fprintf(&e.buf, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	}
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func (e *Encoder) line(name string, labels []Label, value string) {
	e.buf.WriteString(name)
	sep := byte('{')
	for _, set := range [2][]Label{e.fixed, labels} {
		for _, l := range set {
			e.buf.WriteByte(sep)
			fmt.Fprintf(&e.buf, `%s="%s"`, l.Name, escape.Replace(l.Value))
			sep = ','
		}
	}
	if sep == ',' {
		e.buf.WriteByte('}')
	}
	fmt.Fprintf(&e.buf, " %s\n", value)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
