package launch

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"thundercollective/internal/blame"
	"thundercollective/internal/launch/environ"
	"thundercollective/internal/launch/hosts"
	"thundercollective/internal/launch/remote"
	"thundercollective/internal/launch/wire"
)

// DryRun writes what Run would run on which machine, without contacting any machine. What
// only the machines know, such as a free port, is in angle brackets. The job's token does
// not appear.
func DryRun(w io.Writer, cfg Config) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	place := hosts.Place(cfg.Hosts)
	job := &environ.Job{Hosts: cfg.Hosts, Place: place, Edges: cfg.Edges, Served: true}
	hellos := make([]wire.Hello, len(place.Machines))
	for m, machine := range place.Machines {
		var ports []string
		for _, p := range cfg.ports(place, m) {
			port := "<free>"
			if p > 0 {
				port = strconv.Itoa(p)
			}
			ports = append(ports, port)
		}
		job.Ports = append(job.Ports, ports)
		// Use the name of a machine as long as its address is unknown.
		hellos[m] = wire.Hello{Self: machine.Name}
	}
	job.Addrs = cfg.addresses(place, hellos)
	prog := cfg.program()
	var b strings.Builder
	for m, machine := range place.Machines {
		argv := cfg.Agents.Agent
		if !machine.Local {
			argv = cfg.Agents.Command(machine.Name)
		}
		fmt.Fprintf(&b, "on %s:\n  agent: %s\n", machine.Name, commandLine(argv))
		for _, path := range cfg.Copy {
			_, name, err := copyName(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "  copy: %s to <job directory>/copy/%s\n", path, name)
		}
		fmt.Fprintf(&b, "  directory: %s\n", cfg.describeDir(machine))
		for _, rank := range place.Machines[m].Ranks {
			fmt.Fprintf(&b, "  rank %d:\n", rank)
			var files []string
			for _, name := range slices.Sorted(maps.Keys(job.Files())) {
				files = append(files, name+"=<job directory>/"+name)
			}
			files = append(files, blame.Variable+"=<job directory>/"+blame.FileName(rank))
			for _, kv := range slices.Concat(files, prog.env(), job.Rank(rank), cfg.Env) {
				fmt.Fprintf(&b, "    %s\n", kv)
			}
			fmt.Fprintf(&b, "    %s\n", commandLine(prog.argv))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *Config) describeDir(m hosts.Machine) string {
	switch {
	case len(c.Copy) > 0:
		return "<job directory>/copy"
	case c.Dir != "":
		return c.Dir
	case m.Local:
		return workingDir()
	}
	return workingDir() + " if it exists there, else the home directory"
}

func commandLine(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = remote.Quote(w)
	}
	return strings.Join(words, " ")
}
