package org.opendedup.sar.volume.backup;

/**
 * Containers in the packs that the metadata do not know: what was written after the metadata. What an earlier restore
 * left in the packs is not among them.
 *
 * @param containers number of them
 * @param bytes their length in the packs
 * @param oldestNs when the oldest pack with one of them was last written, in nanoseconds since 1970; 0 if there is none
 * @param newestNs the same of the newest pack
 */
public record NewerContainers(long containers, long bytes, long oldestNs, long newestNs) {
    static final NewerContainers NONE = new NewerContainers(0, 0, 0, 0);

    NewerContainers plus(long moreBytes, long packNs) {
        return new NewerContainers(
                containers + 1,
                bytes + moreBytes,
                containers == 0 ? packNs : Math.min(oldestNs, packNs),
                containers == 0 ? packNs : Math.max(newestNs, packNs));
    }
}
