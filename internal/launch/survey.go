package launch

import (
	"context"
	"fmt"

	"thundercollective/internal/launch/hosts"
	"thundercollective/internal/launch/native"
	"thundercollective/internal/launch/output"
	"thundercollective/internal/launch/wire"
)

// NativeConfig returns the configuration of other software for the machines of cfg, in one
// of the formats of package native. It asks the machines for what the host list does not
// contain, and runs nothing else on them.
func NativeConfig(ctx context.Context, cfg Config, format string) (string, error) {
	place := hosts.Place(cfg.Hosts)
	job := native.Job{Hosts: cfg.Hosts, Place: place, Argv: cfg.Argv, Port: cfg.Port}
	hellos := make([]wire.Hello, len(place.Machines))
	if format == "nccl" || !allAddressed(cfg.Hosts) && len(place.Machines) > 1 {
		var err error
		if hellos, err = survey(ctx, &cfg, place); err != nil {
			return "", err
		}
	}
	job.Addrs = addresses(cfg.Hosts, place, hellos)
	for _, h := range hellos {
		names := map[string]string{"127.0.0.1": loopbackName(h.OS), "::1": loopbackName(h.OS)}
		for _, a := range h.Addrs {
			names[a.IP] = a.Interface
		}
		job.Interfaces = append(job.Interfaces, names)
	}
	return native.Write(format, job)
}

func loopbackName(os string) string {
	if os == "darwin" {
		return "lo0"
	}
	return "lo"
}

func allAddressed(list []hosts.Host) bool {
	for _, h := range list {
		if len(h.Addrs) == 0 {
			return false
		}
	}
	return true
}

// survey makes every machine introduce itself.
func survey(ctx context.Context, cfg *Config, place hosts.Placement) ([]wire.Hello, error) {
	printer, err := output.New(output.Config{})
	if err != nil {
		return nil, err
	}
	c := newCluster(cfg, place, printer)
	defer c.close(nil)
	if err := c.connect(ctx); err != nil {
		return nil, fmt.Errorf("query the machines: %w", err)
	}
	hellos := make([]wire.Hello, len(c.agents))
	for m, a := range c.agents {
		hellos[m] = a.Hello
	}
	return hellos, nil
}
