package setup

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"text/tabwriter"
)

// WritePlan shows a plan to a person: what each port gets, then, where they are
// known, the commands and files.
func WritePlan(w io.Writer, p *Plan, steps [][]string, files []File) error {
	fmt.Fprintf(w, "%s\n", p.Host)
	if len(p.Ports) == 0 {
		_, err := fmt.Fprintln(w, "  nothing to set up")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "  INTERFACE\tADDRESS\tPEER\tMTU\tCABLE")
	for _, port := range p.Ports {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%d\t%s\n", port.Interface, port.Address, port.Peer, port.MTU, port.Cable)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, s := range steps {
		fmt.Fprintf(w, "  would run:   %s\n", strings.Join(s, " "))
	}
	for _, f := range files {
		fmt.Fprintf(w, "  would write: %s\n", f.Path)
	}
	return nil
}

// Exec is the Runner that runs commands on this machine. An error ends with what
// the command said.
func Exec(ctx context.Context, argv ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var errOut strings.Builder
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		if text := strings.TrimSpace(errOut.String()); text != "" {
			return out, fmt.Errorf("%w: %s", err, text)
		}
		return out, err
	}
	return out, nil
}
