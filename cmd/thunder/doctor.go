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
		Short: "Check machines and cables, and tell what to fix",
		Long: `doctor checks one or more machines and every cable between them, in the order in
which a link is brought up: the physical link, TCP over it, RDMA over it. Each check
is PASS, WARN or FAIL; WARN and FAIL come with the cause and the exact fix. NOTE is
information, SKIP could not be checked, NONE does not exist on the machine.

With --hosts it also runs the thunder benchmark over each cable that can carry it,
and perftest if installed, and compares the result with what the link should do. RDMA
over Thunderbolt 5: 7.0 GB/s is excellent, 6 to 7 good, 3 to 6 worth investigating,
less a reason to stop; TCP should reach 5.5 GB/s. Other links are compared with their
own speed.

--manifest writes everything to a launch manifest: Markdown, or one self-contained
HTML file, depending on the file name.

Exit status: 0 if everything works, with or without warnings; 1 if something is
broken; 2 if the command line is invalid; 3 if there is nothing to check: neither
Thunderbolt nor RDMA.`,
		Example: `  # this machine
  thunder doctor

  # all machines, with measurements, and a manifest
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
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "print only problems")
	fs.BoolVar(&f.noBench, "no-bench", false, "send no traffic")
	fs.StringVar(&f.max, "max", "64MiB", "largest message `SIZE` of the benchmark")
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

// measure runs the benchmark over the cables between machines that can be reached.
func (f *doctorFlags) measure(cmd *cobra.Command, g *topology.Graph) []doctor.Measurement {
	switch {
	case f.cluster.root != "":
		return doctor.NotMeasured(g, "these are captured machines")
	case f.noBench:
		return doctor.NotMeasured(g, "--no-bench was given")
	case f.cluster.hosts == "":
		return nil // with one machine, no cable has both ends known
	}
	m := &doctor.Meter{Hosts: f.cluster.runner(), Max: f.max}
	if status := cmd.ErrOrStderr(); isTerminal(status) {
		m.Progress = func(what string) { fmt.Fprintf(status, "measuring %s ...\n", what) }
	}
	return m.Measure(cmd.Context(), g)
}
