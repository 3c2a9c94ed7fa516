package org.opendedup.sar.join;

/**
 * The result of an exact pass. Bytes are those before compression.
 *
 * @param containers number of containers whose directories were compared
 * @param skippedContainers number of containers whose directory cannot be read
 * @param foundChunks number of second and further copies that files refer to
 * @param foundBytes bytes of these copies
 * @param joinedChunks number of them to which no file refers any more: the next collection returns their space
 * @param joinedBytes bytes of these
 * @param replacedReferences number of references in recipes that lead to another copy now
 * @param unreadableChunks number of copies that were to be kept and cannot be read: another copy is kept if one can be
 *     read; 50 000 at most are counted
 * @param complete whether all that was found was handled; else it was too little to be worth it, or somebody waited for
 *     a garbage collection
 */
public record JoinReport(
        long containers,
        long skippedContainers,
        long foundChunks,
        long foundBytes,
        long joinedChunks,
        long joinedBytes,
        long replacedReferences,
        long unreadableChunks,
        boolean complete) {}
