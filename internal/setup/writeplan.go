package setup

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WritePlan writes a plan as text: what each port gets, then the commands and files, if
// given.
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
