package org.opendedup.sar.metadata.record;

import java.util.UUID;
import org.opendedup.sar.common.CorruptionException;

/**
 * Names a snapshot wherever it is: in the volume that made it, and in each copy of that volume. Two snapshots with the
 * same identity have the same files.
 *
 * @param volume the volume that made it
 * @param number its number there
 * @param createdMs when it was made, in milliseconds since 1970; a volume whose metadata were restored from a backup
 *     gives a number a second time
 */
public record SnapshotIdentity(UUID volume, long number, long createdMs) {
    public void write(ValueWriter out) {
        out.writeLongLittleEndian(volume.getMostSignificantBits())
                .writeLongLittleEndian(volume.getLeastSignificantBits())
                .writeVarint(number)
                .writeZigzag(createdMs);
    }

    public static SnapshotIdentity read(ValueReader in) throws CorruptionException {
        UUID volume = new UUID(in.readLongLittleEndian(), in.readLongLittleEndian());
        return new SnapshotIdentity(volume, in.readVarint(SnapshotIds.MAX_SNAPSHOT), in.readZigzag());
    }

    /** Returns the identity as {@link #parse} reads it. */
    @Override
    public String toString() {
        return volume + ":" + number + ":" + createdMs;
    }

    /** @throws IllegalArgumentException if the text is no identity */
    public static SnapshotIdentity parse(String text) {
        String[] parts = text.split(":", -1);
        if (parts.length != 3) {
            throw new IllegalArgumentException("'" + text + "' does not name a snapshot: volume, number and time");
        }
        return new SnapshotIdentity(UUID.fromString(parts[0]), Long.parseLong(parts[1]), Long.parseLong(parts[2]));
    }
}
