// Package publish writes what one thread at a time writes and any other may read,
// without the fence that atomic stores of Go come with on amd64. The fence waits until
// all earlier stores have reached the cache; where they go to lines that another core
// has, that takes as long as a message.
//
// What is published is seen by readers with atomic loads, in the order in which it was
// published, and soon: stores leave the processor by themselves. What is given up is
// that the writer's later loads come after its store. So after publishing something, to
// look whether somebody sleeps who waits for it may miss one that goes to sleep in that
// very moment: see where shm sleeps.
//
// Writers take turns: whatever hands the turn on orders their stores. On processors whose
// atomic stores have no such fence, and under the race detector, atomic stores are used.
package publish
