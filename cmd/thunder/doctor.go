package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"

	"thundercollective/internal/doctor"
	"thundercollective/internal/topology"

	"github.com/spf13/cobra"
)

type doctorFlags struct {
	cluster  clusterFlags
	json     bool
	quiet    bool
	noBench  bool
	max      string
	manifest []string
}

func newDoctorCmd() *cobra.Command {
	f := &doctorFlags{}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check machines and cables, and say what to fix",
		Long: `doctor checks one machine or several, and every cable between them, in the order
in which a link is brought up: the physical link, TCP over it, RDMA over it. Each
check is PASS, WARN or FAIL; what is not PASS comes with its cause and the exact
fix. NOTE is worth knowing, SKIP could not be checked, NONE is not there.

With --hosts it also runs our own benchmark over each cable that can carry it, and
perftest beside it where that is installed, and judges the result against what the
link should do: over Thunderbolt 5 RDMA 7.0 GB/s is champagne, 6 to 7 fine, 3 to 6
worth investigating, less a reason to stop; TCP should reach 5.5 GB/s. Other links
are judged from their own speed.

--manifest writes it all down as a launch manifest, in Markdown or as one
self-contained HTML file, by the name's ending.

Exit status: 0 if everything works, with warnings or without; 1 if something is
broken; 2 if the command line is not right; 3 if there is nothing here to check,
neither Thunderbolt nor RDMA.`,
		Example: `  # this machine
  thunder doctor

  # all machines, with measurements, written down
  thunder doctor --hosts studio-a,studio-b --manifest launch.html --manifest launch.md

  # somebody else's machines, from the bundle they sent
  thunder doctor --root bundle.tar.gz`,
		Args: cobra.NoArgs,
		RunE: working(func(cmd *cobra.Command, _ []string) error { return f.run(cmd) }),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	f.cluster.add(fs)
	fs.BoolVar(&f.json, "json", false, "print the report as JSON")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "print only what is not as it should be")
	fs.BoolVar(&f.noBench, "no-bench", false, "send no traffic")
	fs.StringVar(&f.max, "max", "64MiB", "greatest message `SIZE` of the benchmark")
	fs.StringArrayVar(&f.manifest, "manifest", nil, "write the launch manifest to `FILE`, .md or .html; may be given twice")
	return cmd
}

func (f *doctorFlags) run(cmd *cobra.Command) error {
	if err := f.cluster.check(cmd.Flags()); err != nil {
		return err
	}
	for _, name := range f.manifest {
		if !strings.HasSuffix(name, ".md") && !strings.HasSuffix(name, ".html") {
			return usagef("--manifest: %s: the name must end in .md or .html", name)
		}
		if err := writable("--manifest", name); err != nil {
			return err
		}
	}
	g, err := f.cluster.graph(cmd.Context())
	if err != nil {
		return err
	}
	r := doctor.NewReport(time.Now(), version(), g, f.measure(cmd, g))
	for _, name := range f.manifest {
		write := r.WriteMarkdown
		if strings.HasSuffix(name, ".html") {
			write = r.WriteHTML
		}
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return err
		}
		if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	out := cmd.OutOrStdout()
	if f.json {
		err = r.WriteJSON(out)
	} else {
		err = r.WriteText(out, doctor.TextOptions{Colour: colourful(out), Quiet: f.quiet})
		for _, name := range f.manifest {
			fmt.Fprintf(out, "Wrote %s.\n", name)
		}
	}
	if err != nil {
		return err
	}
	if code := r.ExitCode(); code != exitOK {
		return &failure{code: code}
	}
	return nil
}

// measure runs the benchmark over the cables, where machines can be asked to.
func (f *doctorFlags) measure(cmd *cobra.Command, g *topology.Graph) []doctor.Measurement {
	switch {
	case f.cluster.root != "":
		return doctor.NotMeasured(g, "these are captured machines")
	case f.noBench:
		return doctor.NotMeasured(g, "--no-bench was given")
	case f.cluster.hosts == "":
		return nil // one machine has no cable of which both ends are known
	}
	m := &doctor.Meter{Hosts: f.cluster.runner(), Max: f.max}
	if status := cmd.ErrOrStderr(); isTerminal(status) {
		m.Progress = func(what string) { fmt.Fprintf(status, "measuring %s ...\n", what) }
	}
	return m.Measure(cmd.Context(), g)
}
