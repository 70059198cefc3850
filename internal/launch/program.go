package launch

import (
	"os/exec"
	"path/filepath"
	"strings"

	"thundercollective/internal/launch/wire"
)

// A program is what the ranks run, before a machine has reported what it finds.
type program struct {
	argv   []string
	ways   []string // alternatives for argv[0], best first
	self   bool     // thunder itself
	python bool
}

func (c *Config) program() program {
	p := program{argv: c.Argv}
	for _, copied := range c.Copy {
		if rel, ok := insideCopy(copied, c.Argv[0]); ok {
			p.argv = append([]string{"./" + rel}, c.Argv[1:]...)
			break
		}
	}
	p.ways = p.argv[:1]
	switch {
	case strings.HasSuffix(p.argv[0], ".py"):
		p.python = true
		p.ways = pythons(c.Python)
		p.argv = append([]string{p.ways[0]}, p.argv...)
	case p.argv[0] == "thunder":
		p.self = true
	}
	return p
}

// pythons lists the interpreters to try. The one that this machine would use comes first,
// because machines with the same setup have their environments in the same place.
func pythons(chosen string) []string {
	if chosen != "" {
		return []string{chosen}
	}
	ways := []string{"python3", "python"}
	if path, err := exec.LookPath("python3"); err == nil {
		if abs, err := filepath.Abs(path); err == nil {
			ways = append([]string{abs}, ways...)
		}
	}
	return ways
}

// alternatives lists the paths of the program on the machine that sent hello. If the
// program is thunder, it is the agent's own binary: its version has been checked.
func (p program) alternatives(hello wire.Hello) []string {
	if p.self && hello.Path != "" {
		return []string{hello.Path}
	}
	return p.ways
}

// env returns the variables that the program needs besides the job's: Python buffers its
// output if it does not write to a terminal.
func (p program) env() []string {
	if p.python {
		return []string{"PYTHONUNBUFFERED=1"}
	}
	return nil
}
