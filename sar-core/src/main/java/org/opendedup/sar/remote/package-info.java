/**
 * The packs of a volume in an object store. They are written to a local folder, and put into the store when they are
 * complete; of those that are being written, what a commit needs is put as tails. Says when the store has what a commit
 * refers to, and deletes objects only when the metadata in the store do not need them. Has no metadata of its own.
 */
@org.jspecify.annotations.NullMarked
package org.opendedup.sar.remote;
