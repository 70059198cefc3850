package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"thundercollective/internal/doctor"
	"thundercollective/internal/env"
	"thundercollective/internal/setup"
	"thundercollective/internal/topology/probe"

	"github.com/spf13/cobra"
)

type bundleFlags struct {
	cluster clusterFlags
	output  string
}

func newSupportBundleCmd() *cobra.Command {
	f := &bundleFlags{}
	cmd := &cobra.Command{
		Use:   "support-bundle",
		Short: "Collect everything about the machines' links in one file",
		Long: `support-bundle writes one file with everything that topo and doctor read on a
machine, doctor's report, versions, settings and the kernel's messages about links.
Tokens, passwords, serial numbers, user names and public addresses are removed.
Private addresses, hardware addresses and Thunderbolt identities are kept, since the
cabling cannot be reconstructed without them.

Whoever has the file can examine the machines: thunder doctor --root FILE.

With --hosts, machines that do not answer are left out and named; the exit status is
then 1.`,
		Example: `  thunder support-bundle -o bundle.tar.gz
  thunder support-bundle --hosts studio-a,studio-b -o bundle.tar.gz
  thunder doctor --root bundle.tar.gz`,
		Args: cobra.NoArgs,
		RunE: working(func(cmd *cobra.Command, _ []string) error { return f.run(cmd) }),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVarP(&f.output, "output", "o", "thunder-support.tar.gz", "`FILE` to write (- for standard output)")
	f.cluster.add(fs)
	return cmd
}

func (f *bundleFlags) run(cmd *cobra.Command) error {
	if err := f.cluster.check(cmd.Flags()); err != nil {
		return err
	}
	if err := writable("--output", f.output); err != nil {
		return err
	}
	now := time.Now()
	bundles, lost, err := f.collect(cmd.Context(), now)
	if err != nil {
		return err
	}
	if len(bundles) == 0 {
		return lost
	}
	var b bytes.Buffer
	if err := doctor.WriteBundles(&b, bundles, now); err != nil {
		return err
	}
	if err := writeOutput(cmd.OutOrStdout(), f.output, b.Bytes()); err != nil {
		return err
	}
	if f.output != "-" {
		fmt.Fprintf(cmd.OutOrStdout(), "Wrote %s. Review it before you send it.\n", f.output)
	}
	if lost != nil {
		return fmt.Errorf("the bundle is not complete: %w", lost)
	}
	return nil
}

// collect returns the bundles of the machines, and an error about those that did not answer.
func (f *bundleFlags) collect(ctx context.Context, now time.Time) (out map[string]*doctor.Bundle, lost, err error) {
	out = map[string]*doctor.Bundle{}
	switch {
	case f.cluster.root != "":
		captures, err := probe.Open(f.cluster.root)
		if err != nil {
			return nil, nil, &usageError{err}
		}
		for _, c := range captures {
			if out[c.Host], err = doctor.Collect(ctx, c.Source, f.options(now)); err != nil {
				return nil, nil, err
			}
		}
	case f.cluster.hosts != "":
		names, err := f.cluster.names()
		if err != nil {
			return nil, nil, err
		}
		out, lost = f.ask(ctx, names)
	default:
		b, err := doctor.Collect(ctx, probe.Live(), f.options(now))
		if err != nil {
			return nil, nil, err
		}
		out["this"] = b
	}
	return out, lost, nil
}

// ask gets the bundles of other machines, all at once.
func (f *bundleFlags) ask(ctx context.Context, names []string) (map[string]*doctor.Bundle, error) {
	bundles, errs := make([]*doctor.Bundle, len(names)), make([]error, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			text, err := f.cluster.runner().Thunder(ctx, name, nil, "support-bundle", "-o", "-")
			if err != nil {
				errs[i] = err
				return
			}
			if bundles[i], err = doctor.ReadBundle(bytes.NewReader(text)); err != nil {
				errs[i] = fmt.Errorf("%s: %w", name, err)
			}
		})
	}
	wg.Wait()
	out := map[string]*doctor.Bundle{}
	for i, name := range names {
		if bundles[i] != nil && errs[i] == nil {
			out[name] = bundles[i]
		}
	}
	return out, errors.Join(errs...)
}

func (f *bundleFlags) options(now time.Time) doctor.BundleOptions {
	vars := &env.Reader{}
	o := doctor.BundleOptions{
		Version: version(), Environ: os.Environ(), Now: now,
		Journal: filepath.Join(setup.DefaultStateDir(runtime.GOOS), "setup.json"),
		Secrets: []string{vars.Text(env.Token)},
	}
	if name := vars.Text(env.TokenFile); name != "" {
		if b, err := os.ReadFile(name); err == nil {
			o.Secrets = append(o.Secrets, string(b))
		}
	}
	return o
}
