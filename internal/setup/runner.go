package setup

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// A Runner runs a command and returns its standard output. An error contains the
// command's standard error.
type Runner func(ctx context.Context, argv ...string) ([]byte, error)

// Exec is a Runner that runs commands on this machine.
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
