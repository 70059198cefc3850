package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"thundercollective/internal/launch/environ"
	"thundercollective/internal/launch/hosts"
	"thundercollective/internal/launch/output"
	"thundercollective/internal/launch/remote"
)

// DefaultSilence is how long a launcher may not be heard of before the agents on
// other machines take it for gone.
const DefaultSilence = 3 * time.Second

// A Config says what to run where.
type Config struct {
	Hosts []hosts.Host
	// Argv is the program and its arguments. A program that ends in .py is run
	// by Python.
	Argv []string
	// Python is the interpreter for that; "" is this machine's python3 where it
	// exists, else the other machine's.
	Python string
	// Env is "K=V" for every rank.
	Env []string
	// Dir is the working directory of the ranks; "" is ours on this machine,
	// and on others the same where it exists, else the home directory.
	Dir string
	// Copy lists files and folders that are sent to a fresh folder on every
	// machine, which becomes the working directory.
	Copy []string
	// Edges are the cables between the ranks, as THUNDER_EDGES takes them (see
	// hosts.Edges); "" where every machine reaches every other.
	Edges string
	// Port is the first of the ports that a job needs on each machine; 0 is any
	// that are free.
	Port int

	// Stdin is what rank 0 reads, or every rank with StdinAll; nil is nothing. A
	// Read that is under way when Run returns is not waited for.
	Stdin    io.Reader
	StdinAll bool

	// Restarts is how many times ranks are started again after a failure: those
	// that died, if the program of the others re-forms the job (Comm.Reform), else
	// all of them. RestartAll is always all of them.
	Restarts   int
	RestartAll bool
	// ReformWait is how long the others have to begin that; 0 is
	// DefaultReformWait.
	ReformWait time.Duration
	// Timeout ends the job; 0 is never.
	Timeout time.Duration
	// Linger and Grace are those of local.Config, for all machines together.
	Linger, Grace time.Duration
	// Silence is how long machines over ssh go on without hearing from us; 0 is
	// DefaultSilence.
	Silence time.Duration
	// Interrupts ends the job gracefully at the first signal, and at once at the
	// second. May be nil.
	Interrupts <-chan os.Signal

	// Agents says how agents are started.
	Agents remote.Config
	// Version is that of this binary; agents must have the same.
	Version string

	// Output says where lines go. Its Hosts is filled in by Run.
	Output output.Config
	// Lines is the height of the terminal; 0 without one.
	Lines int
}

// Validate checks what can be checked without looking at any machine.
func (c *Config) Validate() error {
	switch {
	case len(c.Argv) == 0 || c.Argv[0] == "":
		return errors.New("no program to run")
	case len(c.Hosts) == 0:
		return errors.New("no hosts to run on")
	case c.Restarts < 0:
		return fmt.Errorf("%d restarts", c.Restarts)
	case c.Port < 0 || c.Port > 65535:
		return fmt.Errorf("port %d is not a port", c.Port)
	case len(c.Agents.Agent) == 0:
		return errors.New("no command line for an agent")
	case c.Timeout < 0 || c.Silence < 0 || c.ReformWait < 0:
		return errors.New("negative timeout")
	case c.Dir != "" && len(c.Copy) > 0:
		return errors.New("a working directory and files to copy, which make one of their own: give one of the two")
	}
	for _, kv := range c.Env {
		if k, _, ok := strings.Cut(kv, "="); !ok || k == "" || strings.ContainsRune(kv, 0) {
			return fmt.Errorf("environment %q is not of the form NAME=value", kv)
		}
	}
	place := hosts.Place(c.Hosts)
	for m := range place.Machines {
		if last := c.Port + environ.PortCount(c.Hosts, place, m) - 1; c.Port > 0 && last > 65535 {
			return fmt.Errorf("ports %d to %d do not exist", c.Port, last)
		}
	}
	return nil
}

// ports are what a machine is asked to set aside.
func (c *Config) ports(place hosts.Placement, machine int) []int {
	ports := make([]int, environ.PortCount(c.Hosts, place, machine))
	for i := range ports {
		if c.Port > 0 {
			ports[i] = c.Port + i
		}
	}
	return ports
}
