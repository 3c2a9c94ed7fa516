/**
 * Metadata in an object store. {@link org.opendedup.sar.metadata.remote.ShippedKeyValueStore} commits to a local
 * database and puts the same changes into the store, as a chain of log segments that nobody can extend in two ways.
 * {@link org.opendedup.sar.metadata.remote.RemoteMetadata} opens a volume's metadata from that chain, on any machine:
 * the newest checkpoint, then the segments that follow it. docs/adr/0133 gives the reasons, docs/FORMAT.md the objects.
 */
@NullMarked
package org.opendedup.sar.metadata.remote;

import org.jspecify.annotations.NullMarked;
