// Package handshake proves, on one fresh connection, that both ends know the
// token of the job, before either end trusts or allocates anything for the other.
//
// The dialer calls Dial, the acceptor calls Accept; when both return nil the
// connection carries exactly the bytes that follow, none was read ahead. There
// are four messages, all of fixed size:
//
//	dialer                                       acceptor
//	  hello: who I am, whom I want, nonceC  ──▶
//	                                        ◀──  challenge: nonceS, MAC("server", hello, nonceS)
//	  proof: MAC("client", hello, nonceS)   ──▶
//	                                             admit(hello)
//	                                        ◀──  verdict: ok or why not, MAC("verdict", hello, nonceS, verdict)
//
// MAC is HMAC-SHA256 under the token. What that gives:
//
//   - Neither end learns anything about the token from a peer that does not know
//     it, beyond the means to test guesses offline: tokens must be random, not
//     words.
//   - Both nonces are under every MAC (nonceC is part of hello), so a recorded
//     session is worth nothing later; the three labels differ, so a MAC cannot be
//     sent back as another one.
//   - The verdict is authenticated too. It is what binds the acceptor to the rank
//     that the dialer wanted: a stranger who has taken rank 2's address and
//     forwards the exchange to rank 3 gets a "not me" from rank 3's admit, and
//     cannot turn it into an "ok". So admit must check Hello.To.
//   - When the dialer finds that the acceptor's MAC is wrong it says so, so that
//     both ends report a token mismatch and neither waits for its deadline.
//
// What it does not give: the connection is not encrypted afterwards. Somebody who
// can alter the packets between two honest ranks can still alter the payload.
//
// An empty token is allowed; such a job only checks that the peers belong
// together (size, generation, rank), not that they are honest.
//
// # Deadlines
//
// The package sets no deadline and starts no goroutine. The caller sets one with
// conn.SetDeadline before the call and clears it afterwards; a peer that says
// nothing then costs one error that wraps os.ErrDeadlineExceeded. On any error the
// caller closes the connection.
//
// # Versions
//
// The hello keeps its size and the place of magic and version in every version
// of the protocol. That is what lets an acceptor read a hello of another version
// to its end and answer with its own version, so that both ends can name the
// disagreement.
package handshake
