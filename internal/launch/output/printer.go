package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"thundercollective/internal/launch/local"
)

// A Config selects where lines go and how they look.
type Config struct {
	Stdout, Stderr io.Writer
	// Hosts has the name of each rank's machine.
	Hosts []string
	// Tag puts rank@host before every line.
	Tag bool
	// Color colours these tags, and Live draws a progress line on Stderr. Both are for
	// terminals.
	Color, Live bool
	// Columns is the terminal's width, which limits the progress line.
	Columns int
	// Quiet lists the ranks whose lines are not shown.
	Quiet []int
	// LogDir is the directory of the ranks' log files; "" for none.
	LogDir string
}

// A Printer shows lines. Its methods may be called from any goroutine.
type Printer struct {
	cfg      Config
	prefixes []string
	width    int // width of a prefix in columns

	mu     sync.Mutex
	logs   []*os.File
	tails  []local.Tail
	status string // the progress line on the screen
	out    []byte
	err    error // first error of a log file
}

// colors are the eight that are legible on both dark and light backgrounds, ordered so that
// neighbours differ.
var colors = []int{36, 33, 32, 35, 34, 31, 96, 95}

// New returns a Printer, and creates the log directory.
func New(cfg Config) (*Printer, error) {
	p := &Printer{cfg: cfg, tails: make([]local.Tail, len(cfg.Hosts))}
	last := strconv.Itoa(len(cfg.Hosts) - 1)
	for _, h := range cfg.Hosts {
		p.width = max(p.width, len(last)+1+len(h))
	}
	for r, h := range cfg.Hosts {
		s := fmt.Sprintf("%*d@%s", len(last), r, h)
		pad := bytes.Repeat([]byte(" "), p.width-len(s))
		if cfg.Color {
			s = fmt.Sprintf("\x1b[%dm%s\x1b[0m", colors[r%len(colors)], s)
		}
		p.prefixes = append(p.prefixes, s+string(pad)+" | ")
	}
	p.width += len(" | ")
	return p, p.openLogs("")
}

// Width returns the number of columns of the prefix.
func (p *Printer) Width() int {
	if p.cfg.Tag {
		return p.width
	}
	return 0
}

// Generation starts the log files of generation n. Earlier ones are kept.
func (p *Printer) Generation(n int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeLogs()
	clear(p.tails)
	return p.openLogs(fmt.Sprintf(".restart-%d", n))
}

// Restart starts the log file of a rank that is restarted alone, at restart n.
func (p *Printer) Restart(rank, n int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tails[rank] = local.Tail{}
	if rank >= len(p.logs) {
		return nil
	}
	f, err := p.openLog(rank, fmt.Sprintf(".restart-%d", n))
	if err != nil {
		return err
	}
	p.closeLog(p.logs[rank])
	p.logs[rank] = f
	return nil
}

func (p *Printer) openLogs(suffix string) error {
	if p.cfg.LogDir == "" {
		return nil
	}
	if err := os.MkdirAll(p.cfg.LogDir, 0o777); err != nil {
		return fmt.Errorf("log directory: %w", err)
	}
	for r := range p.cfg.Hosts {
		f, err := p.openLog(r, suffix)
		if err != nil {
			p.closeLogs()
			return err
		}
		p.logs = append(p.logs, f)
	}
	return nil
}

func (p *Printer) openLog(rank int, suffix string) (*os.File, error) {
	f, err := os.Create(filepath.Join(p.cfg.LogDir, fmt.Sprintf("rank-%d%s.log", rank, suffix)))
	if err != nil {
		return nil, fmt.Errorf("log file: %w", err)
	}
	return f, nil
}

func (p *Printer) closeLogs() {
	for _, f := range p.logs {
		p.closeLog(f)
	}
	p.logs = nil
}

func (p *Printer) closeLog(f *os.File) {
	if err := f.Close(); err != nil && p.err == nil {
		p.err = err
	}
}

// Lines shows whole lines of a rank.
func (p *Printer) Lines(rank int, toStderr bool, lines []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tails[rank].Add(lines)
	if rank < len(p.logs) {
		if _, err := p.logs[rank].Write(lines); err != nil && p.err == nil {
			p.err = err
		}
	}
	if slices.Contains(p.cfg.Quiet, rank) {
		return
	}
	w := p.cfg.Stdout
	if toStderr {
		w = p.cfg.Stderr
	}
	p.erase()
	if p.cfg.Tag {
		lines = p.tagged(rank, lines)
	}
	w.Write(lines)
	p.draw()
}

// tagged puts the prefix before every line. Carriage returns become line ends, because the
// terminal line does not belong to one rank alone.
func (p *Printer) tagged(rank int, lines []byte) []byte {
	p.out = p.out[:0]
	for line := range bytes.Lines(lines) {
		line = bytes.TrimRight(line, "\r\n")
		line = bytes.TrimLeft(line, "\r")
		for part := range bytes.SplitSeq(line, []byte("\r")) {
			p.out = append(p.out, p.prefixes[rank]...)
			p.out = append(p.out, part...)
			p.out = append(p.out, '\n')
		}
	}
	return p.out
}

// Tail returns the last lines of a rank in this generation.
func (p *Printer) Tail(rank int) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tails[rank].Lines()
}

// Note shows a message of the launcher itself.
func (p *Printer) Note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	fmt.Fprintf(p.cfg.Stderr, "thunder launch: "+format+"\n", args...)
	p.draw()
}

// Status shows a progress line, or removes it if s is "".
func (p *Printer) Status(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := p.cfg.Columns - 1; n > 0 && len(s) > n {
		s = s[:n]
	}
	if !p.cfg.Live || s == p.status {
		return
	}
	p.erase()
	p.status = s
	p.draw()
}

func (p *Printer) erase() {
	if p.status != "" {
		io.WriteString(p.cfg.Stderr, "\r\x1b[K")
	}
}

func (p *Printer) draw() {
	if p.status != "" {
		io.WriteString(p.cfg.Stderr, p.status)
	}
}

// Close removes the progress line and closes the log files. It returns the first error of a
// log file.
func (p *Printer) Close() error {
	p.Status("")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeLogs()
	if p.err != nil {
		return errors.Join(errors.New("log files are incomplete"), p.err)
	}
	return nil
}
