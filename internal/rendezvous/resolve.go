package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// A ListenFunc opens the listeners for the data of this rank at the addresses
// given, of which the ports may be 0, and returns the addresses it then listens
// at, in the same order, with their ports.
type ListenFunc func(at []string) (addrs []string, err error)

// Resolve finds out who this rank is and where its peers are, whichever way cfg
// describes.
//
// It calls listen once, as soon as it is known where this rank has to listen: at
// its own addresses from the list or the hostfile, or, with a coordinator, at the
// local address that reaches the coordinator, with port 0. Alone, it does not call
// it. What listen has opened stays open, and is the caller's to close, whether or
// not Resolve succeeds.
//
// Where that would expose the job (see CheckExposure) it fails before listening.
// Errors are those of Config.Validate, ReadHostfile, CheckExposure and Join, and
// that of listen, wrapped.
func Resolve(ctx context.Context, cfg Config, listen ListenFunc) (*Roster, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	open := func(at []string) ([]string, error) {
		if err := CheckExposure(at, cfg.Token, cfg.Insecure); err != nil {
			return nil, err
		}
		addrs, err := listen(at)
		if err != nil {
			return nil, fmt.Errorf("rank %d cannot listen: %w", cfg.Rank, err)
		}
		return addrs, nil
	}
	var peers []Peer
	var specs []EdgeSpec
	var err error
	switch cfg.Way() {
	case Alone:
		return &Roster{Generation: cfg.Generation, Peers: []Peer{{Host: hostname()}}}, nil
	case Coordinated:
		roster, err := coordinate(ctx, cfg, open)
		if err == nil {
			roster.Edges, err = edgesOf(cfg, nil, roster.Peers)
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
	if _, err := open(peers[cfg.Rank].Addrs); err != nil {
		return nil, err
	}
	return &Roster{Rank: cfg.Rank, Generation: cfg.Generation, Peers: peers, Edges: edges}, nil
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

// coordinate joins at the coordinator, and serves it if that is this rank's part.
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
			// Its error says nothing that Join does not: either both fail for
			// the same reason, or a rank was lost after the roster was complete,
			// which the fabric notices.
			_ = Serve(ctx, ln, ServerConfig{
				Size: cfg.Size, Token: cfg.Token, Generation: cfg.Generation, Timeout: cfg.startTimeout(), Logger: cfg.Logger,
			})
		}()
	} else {
		close(served)
	}
	roster, err := Join(ctx, JoinConfig{
		Coordinator: cfg.Coordinator, Rank: cfg.Rank, Size: cfg.Size, Token: cfg.Token,
		Generation: cfg.Generation, Timeout: cfg.startTimeout(), Host: hostname(),
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

// listenCoordinator opens the coordinator's address, and says what to do if that
// cannot be.
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
		err = fmt.Errorf("%w; it has to be an address of rank 0's own machine", err)
	}
	return nil, fmt.Errorf("rank 0 cannot serve the coordinator: %w", err)
}

// hostname is for messages only, so not knowing it is no error.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}
