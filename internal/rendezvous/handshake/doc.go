// Package handshake lets the two ends of a new connection prove to each other that
// they know the job's token, before either end trusts the other or allocates
// anything for it.
//
// The dialer calls Dial, the acceptor calls Accept. When both return nil, the next
// byte on the connection is the first one after the handshake: nothing was read
// ahead. On any error the caller closes the connection. Errors are typed:
//
//   - *AuthError: the peer does not know the token;
//   - *RejectedError: the peer knows it, and the acceptor's admit function refused
//     the connection (wrong job size, rank taken, incompatible settings, ...);
//   - *ProtocolError: the peer is another program, or another version of this one;
//   - ErrNoHello: the peer hung up before it sent anything that identifies it.
//
// Any other error wraps that of the connection.
//
// # Deadlines
//
// The package sets no deadline and starts no goroutine. The caller calls
// conn.SetDeadline before the handshake and clears the deadline afterwards; a silent
// peer then costs one error that wraps os.ErrDeadlineExceeded.
//
// # Protocol
//
// There are four messages, all of fixed size:
//
//	dialer                                       acceptor
//	  hello: who I am, whom I want, nonceC  ──▶
//	                                        ◀──  challenge: nonceS, MAC("server", hello, nonceS)
//	  proof: MAC("client", hello, nonceS)   ──▶
//	                                             admit(hello)
//	                                        ◀──  verdict: ok or why not, MAC("verdict", hello, nonceS, verdict)
//
// MAC is HMAC-SHA256 under the token. This has the following properties:
//
//   - A peer that does not know the token learns nothing about it except the means
//     to test guesses offline: tokens must be random, not words.
//   - Every MAC covers both nonces (nonceC is part of hello), so a recorded session
//     cannot be replayed. The three labels differ, so a MAC cannot be sent back in
//     place of another one.
//   - The verdict is authenticated too. It binds the acceptor to the rank that the
//     dialer wanted: a stranger who has taken rank 2's address and forwards the
//     exchange to rank 3 gets a "not me" from rank 3's admit function and cannot
//     turn it into an "ok". So admit must check Hello.To.
//   - A dialer that finds the acceptor's MAC wrong tells the acceptor, so that both
//     ends report the token mismatch and neither waits for its deadline.
//
// If the ends were told different things about the job, such as hostfiles that differ,
// the verdict says so, and they exchange what differs (see Roster) before both hang up.
//
// The connection is not encrypted afterwards: somebody who can alter packets between
// two honest ranks can alter the payload.
//
// An empty token is allowed. Then the handshake only checks that the two ends belong
// to the same job (size, generation, rank), not that they are honest.
//
// # Versions
//
// The size of the hello, and the position of magic and version in it, are the same in
// every version of the protocol. So an acceptor can read a hello of another version to
// its end and answer with its own version, and both ends can report the difference.
package handshake
