// Package rendezvous finds out who is rank r, at which addresses, and of which
// generation of the job. There are three ways in, and one result, a Roster:
//
//   - Explicit: every process is given its rank and the same list of addresses,
//     one entry per rank.
//   - Coordinated: every process is given its rank, the number of ranks and the
//     address of a coordinator, and they meet there. Rank 0 serves it, unless
//     somebody else, such as a launcher, does.
//   - FromHostfile: every process is given its rank and the same hostfile, MLX's
//     or ours (see ParseHostfile).
//
// Whoever is given none of these is alone: a group of one.
//
// # From what the user gave to a Roster
//
// FromEnv reads the environment into a Config; flags or fields make another, which
// wins where it says something:
//
//	env, err := rendezvous.FromEnv(os.Getenv)
//	cfg := env.Merge(rendezvous.Config{Rank: rendezvous.NoRank, Coordinator: "10.0.0.1:7000", ...})
//	roster, err := rendezvous.Resolve(ctx, cfg, func(at []string) ([]string, error) {
//		// open the data listeners at the addresses at (ports may be 0)
//		return addresses, nil
//	})
//
// Resolve calls back to have the listeners opened because only it knows where, and
// because a rank must be listening before its peers learn its addresses. With a
// coordinator, a rank listens on the address from which it reaches the
// coordinator: on loopback if that is on loopback, so that a job on one machine is
// never exposed; on the interface of the cable if it is there. A Config with both
// Coordinator and one entry in Addrs overrides that, for several rails.
//
// Two ranks that disagree about the size or the generation, or claim the same
// rank, are told so by name. Nothing waits for ever: Config.StartTimeout bounds how
// far apart ranks may start, and when it has passed every rank that did start gets
// the same *MissingError, which names those that did not.
//
// # Who may listen where
//
// A job with a token lets nobody in who does not know it (see package handshake,
// which every connection starts with). CheckExposure refuses to listen beyond
// loopback without one.
//
// # The coordinator
//
// Serve is the coordinator and Join is a rank; a launcher uses Serve on its own and
// sets THUNDER_COORDINATOR_SERVED for its ranks. After the handshake a rank
// registers its addresses and waits. A rank whose connection ends gives its place
// back until the job is complete, so one that crashed early can be started again;
// a second process that claims a rank which is there is turned away, and the first
// is not disturbed. What does not know the token, or says nothing, costs a bounded
// number of connections with deadlines; when there are too many of those, the
// oldest go.
//
// The coordinator's port is best chosen below those that systems give out for
// outgoing connections (32768 on Linux, 49152 on macOS): one of those may be taken
// when rank 0 starts.
//
// Zones of link-local IPv6 addresses are names that one machine has for its
// interfaces. A rank that reached the coordinator through a link-local address
// takes that interface for the link-local addresses of its peers; otherwise it
// takes them as they were advertised.
package rendezvous
