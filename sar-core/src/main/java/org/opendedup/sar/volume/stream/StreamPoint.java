package org.opendedup.sar.volume.stream;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.record.SnapshotIdentity;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.metadata.record.ValueReader;
import org.opendedup.sar.metadata.record.ValueWriter;

/**
 * Where a stream begins, or where a receiver of one wants the next to begin. As text it is what {@code receive} shows
 * after it was interrupted, and {@code send --resume} takes.
 *
 * @param target the snapshot that is sent
 * @param base the snapshot that the receiver has already; null: the stream has everything
 * @param position what lies before it is not in the stream
 */
public record StreamPoint(SnapshotIdentity target, @Nullable SnapshotIdentity base, StreamPosition position) {
    private static final String SEPARATOR = "/";

    void write(ValueWriter out) {
        target.write(out);
        out.writeByte(base == null ? 0 : 1);
        if (base != null) {
            base.write(out);
        }
        out.writeVarint(position.inode()).writeVarint(position.page());
    }

    static StreamPoint read(ValueReader in) throws CorruptionException {
        SnapshotIdentity target = SnapshotIdentity.read(in);
        SnapshotIdentity base = in.readVarint(1) == 0 ? null : SnapshotIdentity.read(in);
        long inode = in.readVarint(SnapshotIds.MAX_INODE);
        return new StreamPoint(target, base, new StreamPosition(inode, in.readVarint(Long.MAX_VALUE)));
    }

    /** Returns the text that {@link #parse} reads. */
    @Override
    public String toString() {
        return String.join(
                SEPARATOR,
                target.toString(),
                base == null ? "" : base.toString(),
                String.valueOf(position.inode()),
                String.valueOf(position.page()));
    }

    /** @throws IllegalArgumentException if the text does not say where a stream begins */
    public static StreamPoint parse(String text) {
        String[] parts = text.split(SEPARATOR, -1);
        if (parts.length != 4) {
            throw new IllegalArgumentException("'" + text + "' does not say where a stream goes on");
        }
        return new StreamPoint(
                SnapshotIdentity.parse(parts[0]),
                parts[1].isEmpty() ? null : SnapshotIdentity.parse(parts[1]),
                new StreamPosition(Long.parseLong(parts[2]), Long.parseLong(parts[3])));
    }
}
