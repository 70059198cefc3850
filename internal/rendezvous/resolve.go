package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// A ListenFunc opens this rank's data listeners at the given addresses, whose ports may
// be 0. It returns the addresses with the actual ports, in the same order.
type ListenFunc func(at []string) (addrs []string, err error)

// Resolve finds out who this rank is and where its peers are, as cfg describes.
//
// It calls listen once, as soon as it knows where this rank listens: at its own
// addresses from the list or the hostfile, or, with a coordinator, at the local address
// of the connection to the coordinator, with port 0. For a job of one rank it does not
// call listen. The caller closes what listen opened, whether or not Resolve succeeds.
//
// If listening would expose the job (see CheckExposure), Resolve fails before it
// listens. Errors are those of Config.Validate, ReadHostfile, CheckExposure and Join,
// and that of listen, wrapped.
func Resolve(ctx context.Context, cfg Config, listen ListenFunc) (*Roster, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	open := func(at []string) ([]string, error) {
		if err := CheckExposure(at, cfg.Token, cfg.Insecure); err != nil {
			return nil, err
		}
		addrs, err := within(cfg.Ports, listen)(at)
		if err != nil {
			return nil, fmt.Errorf("rank %d cannot listen: %w", cfg.Rank, err)
		}
		if cfg.Logger != nil {
			cfg.Logger.Info("listening for the other ranks", "rank", cfg.Rank, "at", addrs)
		}
		return addrs, nil
	}
	var peers []Peer
	var specs []EdgeSpec
	var err error
	switch cfg.Way() {
	case Alone:
		return &Roster{Generation: cfg.Generation, Peers: []Peer{{Host: hostname(), Machine: ownMachine()}}}, nil
	case Coordinated:
		roster, err := coordinate(ctx, cfg, open)
		if err == nil {
			roster.way = Coordinated
			roster.Edges, err = edgesOf(cfg, nil, roster.Peers)
			tellApart(roster.Peers)
		}
		return roster, err
	case Explicit:
		peers, err = explicitPeers(cfg.Rank, cfg.Addrs)
	case FromHostfile:
		peers, specs, err = hostfilePeers(cfg)
	}
	if err != nil {
		return nil, err
	}
	edges, err := edgesOf(cfg, specs, peers)
	if err != nil {
		return nil, err
	}
	tellApart(peers)
	if _, err := open(peers[cfg.Rank].Addrs); err != nil {
		return nil, err
	}
	return &Roster{Rank: cfg.Rank, Generation: cfg.Generation, Peers: peers, Edges: edges, way: cfg.Way()}, nil
}

// edgesOf returns the cables between peers: those of the configuration, else those
// of the hostfile.
func edgesOf(cfg Config, hostfile []EdgeSpec, peers []Peer) ([]Edge, error) {
	specs := hostfile
	if cfg.Edges != "" {
		var err error
		if specs, err = ParseEdges(cfg.Edges); err != nil {
			return nil, err
		}
	}
	return resolveEdges(specs, peers)
}

func hostfilePeers(cfg Config) ([]Peer, []EdgeSpec, error) {
	h, err := ReadHostfile(cfg.Hostfile)
	if err != nil {
		return nil, nil, err
	}
	peers, err := h.Peers()
	if err != nil {
		return nil, nil, err
	}
	if cfg.Size != 0 && cfg.Size != len(peers) {
		return nil, nil, badConfig(fieldSize, "%d ranks, but the hostfile lists %d", cfg.Size, len(peers))
	}
	if err := checkRank(cfg.Rank, len(peers), "the hostfile"); err != nil {
		return nil, nil, err
	}
	return peers, h.EdgeSpecs(), nil
}

// coordinate joins at the coordinator, which rank 0 also serves unless cfg.Served.
func coordinate(ctx context.Context, cfg Config, open ListenFunc) (*Roster, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	served := make(chan struct{})
	if cfg.Rank == 0 && !cfg.Served {
		ln, err := listenCoordinator(cfg)
		if err != nil {
			return nil, err
		}
		go func() {
			defer close(served)
			// Its error adds nothing to that of Join: either both fail for the
			// same reason, or a rank was lost after the roster was complete, which
			// the fabric detects.
			_ = Serve(ctx, ln, ServerConfig{
				Size: cfg.Size, Token: cfg.Token, Generation: cfg.Generation, Timeout: cfg.startTimeout(), Logger: cfg.Logger,
			})
		}()
	} else {
		close(served)
	}
	roster, err := Join(ctx, JoinConfig{
		Coordinator: cfg.Coordinator, Rank: cfg.Rank, Size: cfg.Size, Token: cfg.Token,
		Generation: cfg.Generation, Timeout: cfg.startTimeout(), Host: hostname(), OnRetry: cfg.OnRetry,
		Listen: func(ip string) ([]string, error) {
			at := cfg.listenAddrs()
			if at == nil {
				at = []string{net.JoinHostPort(ip, "0")}
			}
			return open(at)
		},
	})
	if err != nil {
		cancel(fmt.Errorf("rank 0 gave up: %w", err))
	}
	<-served
	return roster, err
}

// listenCoordinator listens at the coordinator's address. Its error tells what to do.
func listenCoordinator(cfg Config) (net.Listener, error) {
	if err := CheckExposure([]string{cfg.Coordinator}, cfg.Token, cfg.Insecure); err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", cfg.Coordinator)
	switch {
	case err == nil:
		return ln, nil
	case errors.Is(err, syscall.EADDRINUSE):
		err = fmt.Errorf("%w; choose another port, the same on all ranks", err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		err = fmt.Errorf("%w; it must be an address of rank 0's own machine", err)
	}
	return nil, fmt.Errorf("rank 0 cannot serve the coordinator: %w", err)
}

// hostname returns the machine's name, for messages only: failure to get it is not an
// error.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}
