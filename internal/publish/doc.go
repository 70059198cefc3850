// Package publish stores words that one thread at a time writes and any thread may read,
// without the fence that Go's atomic stores have on amd64. The fence waits until all
// earlier stores have reached the cache; if their lines belong to another core, that
// takes as long as sending a message.
//
// Readers see what is published with atomic loads, soon and in the order in which it was
// published. What is lost without the fence is that the writer's later loads come after
// its store. So a writer that publishes something and then checks whether a reader sleeps
// may miss a reader that falls asleep at that moment; shm takes that into account where
// it sleeps.
//
// Only one thread writes at a time: whatever synchronises the writers orders their
// stores. On processors whose atomic stores have no such fence, and under the race
// detector, atomic stores are used.
package publish
