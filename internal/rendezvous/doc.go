// Package rendezvous lets the processes of a job find each other. Its result is a
// Roster: this process's rank, and the addresses of all ranks.
//
// The user says how to find the others in one of three ways:
//
//   - Explicit: every process gets its rank and the same list of addresses, one
//     entry per rank.
//   - Coordinated: every process gets its rank, the number of ranks and the address
//     of a coordinator, where all of them register. Rank 0 serves the coordinator,
//     unless somebody else does, such as a launcher.
//   - FromHostfile: every process gets its rank and the same hostfile, in MLX's
//     format or ours (see ParseHostfile).
//
// A process that gets none of these is alone: a job of one rank.
//
// # Use
//
// FromEnv reads the environment into a Config. Flags or fields make another one,
// which takes precedence:
//
//	env, err := rendezvous.FromEnv(os.Getenv)
//	cfg := env.Merge(rendezvous.Config{Rank: rendezvous.NoRank, Coordinator: "10.0.0.1:7000", ...})
//	roster, err := rendezvous.Resolve(ctx, cfg, func(at []string) ([]string, error) {
//		// open the data listeners at these addresses (ports may be 0)
//		return addresses, nil
//	})
//
// The callback exists because a rank must listen before its peers learn its
// addresses, and only Resolve knows where. With a coordinator, a rank listens on the
// local address of its connection to the coordinator: on loopback if the coordinator
// is on loopback, so that a job on one machine is never exposed; on the interface of
// the cable if the coordinator is reached over a cable. For other addresses, or
// several rails, give a Config both Coordinator and one entry in Addrs.
//
// # Machines
//
// A machine is one boot of a kernel, never a name: two may have the same. Ranks that
// register at a coordinator tell it an id that derives from their boot, and ranks of
// containers on one machine have the same one; whether they share memory is for them to
// find out. Ranks that are listed tell each other nothing before they connect: those of
// one entry of a hostfile, or with an ssh host or an address in common, are on one
// machine. Of machines with one name, the second gets "#2" after it in messages.
//
// # Ports
//
// A rank listens at the ports that it is given. Where it may choose, because there is a
// coordinator, it listens at any free port, or at the first free one of Config.Ports.
//
// # Failure
//
// Nothing waits forever. Config.StartTimeout limits how far apart ranks may start.
// When it has passed, every rank that did start gets the same *MissingError, which
// names the missing ranks. Ranks that disagree about the size or the generation, or
// that claim the same rank, get an error that names both. Ranks whose hostfiles differ
// find out when they connect, and both say in which line (see Roster.Lists). Resolve and
// Join list the other errors.
//
// # Security
//
// Every connection starts with package handshake: a job with a token lets nobody in
// who does not know it. CheckExposure refuses to listen beyond loopback without a
// token.
//
// # The coordinator
//
// Serve is the coordinator and Join is a rank. A launcher calls Serve itself and sets
// THUNDER_COORDINATOR_SERVED for its ranks.
//
// After the handshake a rank registers its addresses and waits. Until the job is
// complete, a rank whose connection ends loses its place, so a rank that crashed early
// can be started again. A second process that claims the rank of a connected one is
// refused, and the first one is not disturbed. Connections that do not know the token,
// or stay silent, are limited in number and time; when there are too many, the oldest
// are closed.
//
// The coordinator's port should be below the range that systems use for outgoing
// connections (from 32768 on Linux, from 49152 on macOS): a port in that range may be
// taken when rank 0 starts.
//
// The zone of a link-local IPv6 address is a name that only one machine knows. A rank
// that reached the coordinator over a link-local address uses that interface for the
// link-local addresses of its peers; otherwise it uses the zones as advertised.
package rendezvous
