package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"thundercollective/internal/topology"

	"github.com/spf13/cobra"
)

type topoFlags struct {
	cluster  clusterFlags
	json     bool
	dot      bool
	svg      string
	hostfile string
	form     string
}

func newTopoCmd() *cobra.Command {
	f := &topoFlags{}
	cmd := &cobra.Command{
		Use:   "topo",
		Short: "Show how the machines are cabled",
		Long: `topo reads the Thunderbolt ports, network cards and RDMA devices of this machine,
or of several over ssh, and shows which machine is cabled to which: through which
port, at which speed, and what the cable can carry with the current configuration.

Cables are matched by the identity that each end reports of the other, so several
cables between two machines are distinguished, and computers behind hubs are found.
topo reports whether the cabling is a mesh, a ring, a chain or broken, and which
cable to add: "plug studio-a port 3 into studio-b port 2". Machines without cables to
each other that share a network, such as an Ethernet switch, are switched: the network
carries everything, and the hostfile has the addresses in it.

The hostfile of --hostfile is for 'thunder launch' and 'thunder bench'. Between two
machines, and with --form mlx, mlx.launch accepts it too.

thunder must be installed on each machine; nothing is changed on any of them.

Exit status: 0 if the machines could be read, 1 if not, 2 if the command line is
invalid.`,
		Example: `  # this machine
  thunder topo

  # four machines, with a picture
  thunder topo --hosts studio-a,studio-b,studio-c,studio-d --svg cabling.svg

  # a hostfile for launch and bench
  thunder topo --hosts studio-a,studio-b --hostfile hosts.json

  # somebody else's machines, from the bundle they sent
  thunder topo --root bundle.tar.gz`,
		Args: cobra.NoArgs,
		RunE: working(func(cmd *cobra.Command, _ []string) error { return f.run(cmd) }),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	f.cluster.add(fs)
	fs.BoolVar(&f.json, "json", false, "print the graph as JSON")
	fs.BoolVar(&f.dot, "dot", false, "print the graph for Graphviz")
	fs.StringVar(&f.svg, "svg", "", "draw the graph to an SVG `FILE` (- for standard output)")
	fs.StringVar(&f.hostfile, "hostfile", "", "write a hostfile to `FILE` (- for standard output)")
	fs.StringVar(&f.form, "form", "", "`FORM` of the hostfile: thunder or mlx (default: mlx for two machines, thunder for more)")
	completeFlag(cmd, "form", []string{topology.FormThunder, topology.FormMLX})
	return cmd
}

func (f *topoFlags) run(cmd *cobra.Command) error {
	if err := f.cluster.check(cmd.Flags()); err != nil {
		return err
	}
	if f.form != "" && f.form != topology.FormThunder && f.form != topology.FormMLX {
		return usagef("--form: unknown form %q; want thunder or mlx", f.form)
	}
	if err := cmp.Or(writable("--svg", f.svg), writable("--hostfile", f.hostfile)); err != nil {
		return err
	}
	g, err := f.cluster.graph(cmd.Context())
	if err != nil {
		return err
	}
	if err := f.show(cmd.OutOrStdout(), g); err != nil {
		return err
	}
	return lostError(g)
}

func (f *topoFlags) show(out io.Writer, g *topology.Graph) error {
	if f.svg != "" {
		var b bytes.Buffer
		if err := g.WriteSVG(&b); err != nil {
			return err
		}
		if err := writeOutput(out, f.svg, b.Bytes()); err != nil {
			return err
		}
	}
	if f.hostfile != "" {
		text, err := g.MarshalHostfile(f.form)
		if err != nil {
			return err
		}
		if err := writeOutput(out, f.hostfile, text); err != nil {
			return err
		}
	}
	switch {
	case f.json:
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(g)
	case f.dot:
		return g.WriteDOT(out)
	case f.svg == "-" || f.hostfile == "-":
		return nil
	}
	if err := g.WriteTable(out, terminalWidth(out)); err != nil {
		return err
	}
	for _, name := range []string{f.svg, f.hostfile} {
		if name != "" {
			fmt.Fprintf(out, "Wrote %s.\n", name)
		}
	}
	return nil
}

// writeOutput writes a result to a file, or to out when the name is "-".
func writeOutput(out io.Writer, name string, b []byte) error {
	if name == "-" {
		_, err := out.Write(b)
		return err
	}
	return os.WriteFile(name, b, 0o644)
}
