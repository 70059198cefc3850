package main

import (
	"context"
	"fmt"
	"strings"

	hostlist "thundercollective/internal/launch/hosts"
	"thundercollective/internal/topology"
	"thundercollective/internal/topology/probe"
	"thundercollective/internal/topology/sshrun"

	"github.com/spf13/pflag"
)

// clusterFlags select the machines for topo, doctor and setup: this one, others over ssh,
// or captured ones.
type clusterFlags struct {
	hosts   string
	root    string
	ssh     string
	thunder string
}

func (f *clusterFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.hosts, "hosts", "", "comma-separated `HOSTS` to query over ssh: a,b,user@c (default: this machine)")
	fs.StringVar(&f.root, "root", "", "read captured machines from `PATH`: a directory, a support bundle, or a .txtar file")
	fs.StringVar(&f.ssh, "ssh", "", "ssh `COMMAND` with its options")
	fs.StringVar(&f.thunder, "thunder", "", "path of thunder on the other machines")
}

// check returns a usage error if a flag that names machines is given but empty.
func (f *clusterFlags) check(fs *pflag.FlagSet) error { return notEmpty(fs, "hosts", "root") }

func (f *clusterFlags) runner() *sshrun.Runner {
	return &sshrun.Runner{SSH: strings.Fields(f.ssh), RemotePath: f.thunder, Self: sshrun.Executable()}
}

// graph queries the machines.
func (f *clusterFlags) graph(ctx context.Context) (*topology.Graph, error) {
	machines, err := f.machines(ctx)
	if err != nil {
		return nil, err
	}
	return topology.Build(machines), nil
}

func (f *clusterFlags) machines(ctx context.Context) ([]*probe.Machine, error) {
	switch {
	case f.root != "" && f.hosts != "":
		return nil, usagef("--root reads captured machines and --hosts queries live ones; use one or the other")
	case f.root != "":
		machines, err := probe.Captured(ctx, f.root)
		if err != nil {
			return nil, &usageError{err}
		}
		return machines, nil
	case f.hosts != "":
		names, err := f.names()
		if err != nil {
			return nil, err
		}
		return f.runner().Machines(ctx, names), nil
	}
	return []*probe.Machine{probe.Probe(ctx, probe.Live())}, nil
}

// names returns the machines of --hosts.
func (f *clusterFlags) names() ([]string, error) {
	list, err := hostlist.ParseList(f.hosts)
	if err != nil {
		return nil, usagef("--hosts: %w", err)
	}
	names := make([]string, len(list))
	for i, h := range list {
		names[i] = h.Name
	}
	return names, nil
}

// lostError names the machines that did not answer; it returns nil if all did.
func lostError(g *topology.Graph) error {
	var lost []string
	for _, m := range g.Machines {
		if m.Lost != "" {
			lost = append(lost, m.Lost)
		}
	}
	if lost == nil {
		return nil
	}
	return fmt.Errorf("%d of %d machines did not answer: %s", len(lost), len(g.Machines), strings.Join(lost, "; "))
}
