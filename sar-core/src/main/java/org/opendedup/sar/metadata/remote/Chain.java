package org.opendedup.sar.metadata.remote;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.crypt.KeyedHash;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStore;

/**
 * The log segments of a volume in an object store. Each place of the chain is the name of one object, and an object can
 * be put once. So nobody can put a segment where another one has put one: who wants to be the next owner puts the end
 * of the present owner's part in the place of its next segment. Either that segment is there before, and belongs to the
 * history; or it can never get there. Of each owner's part, the last segment is never removed.
 *
 * <p>Who asks to be the next owner may be paused so long that the place was removed meanwhile, and is free again. So an
 * end counts only if it is the last segment of that part, which a list shows.
 *
 * <p>Safe for use by many threads.
 */
final class Chain {
    /** A batch can be larger than a segment should be; see {@link ShippedKeyValueStore}. */
    private static final int MOST_BYTES = Integer.MAX_VALUE - 64;

    /** Name of the first segment, which is never removed. */
    private static final String BEGIN = ObjectNaming.segment(Owner.NONE.lease(), 0);

    private final ObjectStore objects;
    private final UUID volume;
    private final @Nullable KeyedHash authenticates;

    /** @param authenticates of an encrypted volume; null: it is not encrypted */
    Chain(ObjectStore objects, UUID volume, @Nullable KeyedHash authenticates) {
        this.objects = objects;
        this.volume = volume;
        this.authenticates = authenticates;
    }

    /** A segment in the chain, and the point behind it. */
    record Link(LogSegment segment, ChainPoint point, int bytes) {}

    /** A segment that is to be put. It can be put several times, until the store has answered. */
    static final class Put {
        private final LogSegment segment;
        private final String name;
        private final ObjectSource source;
        private final ChainPoint point;

        private Put(LogSegment segment, byte[] bytes) {
            this.segment = segment;
            name = ObjectNaming.segment(segment.owner().lease(), segment.number());
            source = ObjectSource.of(bytes);
            point = segment.point(LogSegment.crcOf(bytes));
        }

        LogSegment segment() {
            return segment;
        }

        long bytes() {
            return source.length();
        }

        /** Returns the point of the log at the end of the segment. */
        ChainPoint point() {
            return point;
        }
    }

    /** Makes a segment that follows a point. */
    Put after(ChainPoint point, long last, LogSegment.Content content) {
        LogSegment segment = LogSegment.after(point, volume, last, content);
        return new Put(segment, segment.encode(authenticates));
    }

    /** Makes the segment with which a chain begins. */
    Put begin(Owner owner, long sequence) {
        LogSegment segment = new LogSegment(volume, Owner.NONE, 0, 0, sequence, sequence, new LogSegment.End(owner));
        return new Put(segment, segment.encode(authenticates));
    }

    /**
     * Returns the segment with which the chain begins.
     *
     * @throws NoSuchFileException if it is lost
     */
    Link begin() throws IOException {
        return read(BEGIN);
    }

    /** Returns the volume whose chain is in a store, also if its first segment is lost. */
    static UUID volumeIn(ObjectStore objects) throws IOException {
        IOException lost;
        try {
            return volumeOf(BEGIN, objects);
        } catch (NoSuchFileException | CorruptionException e) {
            lost = e;
        }
        List<String> names = objects.list(ObjectNaming.LOG, BEGIN, ObjectStore.MOST_NAMES).names().stream()
                .filter(ObjectNaming::isSegment)
                .toList();
        for (String name : names) {
            try {
                return volumeOf(name, objects);
            } catch (NoSuchFileException | CorruptionException e) {
                lost.addSuppressed(e);
            }
        }
        throw names.isEmpty() && lost instanceof NoSuchFileException missing ? noVolume(objects, missing) : lost;
    }

    private static UUID volumeOf(String name, ObjectStore objects) throws IOException {
        return LogSegment.volumeOf(objects.readWhole(name, MOST_BYTES), objects + "/" + name);
    }

    private static IOException noVolume(ObjectStore objects, NoSuchFileException cause) {
        return new IOException("there is no volume in " + objects + " (no object " + BEGIN + ")", cause);
    }

    /**
     * Puts a segment.
     *
     * @return false if another segment is in its place, or ends this part of the chain
     */
    boolean put(Put put) throws IOException {
        try {
            objects.put(put.name, put.source);
        } catch (FileAlreadyExistsException e) {
            if (!objects.status(put.name).token().equals(put.source.token())) {
                return false;
            }
        }
        if (put.segment.content() instanceof LogSegment.End && !isLast(put.segment.owner(), put.name)) {
            objects.delete(List.of(put.name));
            return false;
        }
        return true;
    }

    /** Returns whether nothing was put behind a point. */
    boolean isFree(ChainPoint point) throws IOException {
        return find(ObjectNaming.segment(point.owner().lease(), point.number() + 1)) == null;
    }

    private boolean isLast(Owner owner, String name) throws IOException {
        return objects.first(ObjectNaming.segments(owner.lease()), name, ObjectNaming::isSegment)
                .isEmpty();
    }

    /**
     * Returns the segment that follows a point; null if there is none yet.
     *
     * @throws MissingSegmentException if it was removed: there are later ones, or the place was used again
     */
    @Nullable
    Link next(ChainPoint point) throws IOException {
        return next(point, null);
    }

    /** @param ahead what was read of the segment's place before; null: nothing, so it is read */
    @Nullable
    Link next(ChainPoint point, @Nullable Link ahead) throws IOException {
        String name = ObjectNaming.segment(point.owner().lease(), point.number() + 1);
        Link link = ahead == null ? find(name) : ahead;
        if (link == null) {
            Optional<String> later = objects.first(ObjectNaming.LOG, name, ObjectNaming::isSegment);
            if (later.isEmpty()) {
                return null;
            }
            // The owner may have put several in between.
            link = find(name);
            if (link == null) {
                throw new MissingSegmentException(name, later.get());
            }
        }
        LogSegment segment = link.segment();
        if (!segment.owner().equals(point.owner())
                || segment.number() != point.number() + 1
                || segment.previous() != point.crc()
                || segment.first() != point.sequence()) {
            throw new MissingSegmentException(name + " that follows " + point, "another one (" + segment + ")");
        }
        if (segment.content() instanceof LogSegment.End && !isLast(segment.owner(), name)) {
            throw new MissingSegmentException(name, "an end that does not count");
        }
        return link;
    }

    /**
     * Returns the points after the last segment: one, or two if that segment cannot be read, because it may be the end
     * of the part of its owner.
     *
     * @param sequence stands for the number of its last change then
     * @throws NoSuchFileException if there is no segment
     */
    List<ChainPoint> ends(long sequence) throws IOException {
        String found = lastOf(ObjectNaming.LOG);
        String last = found == null ? BEGIN : found;
        try {
            return List.of(read(last).point());
        } catch (CorruptionException e) {
            long[] segment = ObjectNaming.segmentOf(last);
            if (segment == null) {
                throw e;
            }
            return List.of(
                    new ChainPoint(new Owner(segment[0], 0), segment[1], 0, sequence),
                    new ChainPoint(new Owner(segment[0] + 1, 0), segment[1], 0, sequence));
        }
    }

    /** Returns the segment that ends an owner's part of the chain; null if nothing says that there is one. */
    @Nullable
    Link end(Owner owner) throws IOException {
        String last = lastOf(ObjectNaming.segments(owner.lease()));
        Link link = last == null ? null : find(last);
        boolean isEnd = link != null
                && link.segment().owner().equals(owner)
                && link.segment().content() instanceof LogSegment.End;
        return isEnd ? link : null;
    }

    /** Returns the last segment whose name begins with a prefix; null if there is none. */
    private @Nullable String lastOf(String prefix) throws IOException {
        String last = null;
        for (ObjectPage.Entry object : objects.listAll(prefix, "")) {
            last = ObjectNaming.isSegment(object.name()) ? object.name() : last;
        }
        return last;
    }

    /** Returns a segment; null if there is none of that name. */
    @Nullable
    Link find(String name) throws IOException {
        try {
            return read(name);
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    private Link read(String name) throws IOException {
        byte[] bytes = objects.readWhole(name, MOST_BYTES);
        LogSegment segment = LogSegment.decode(bytes, objects + "/" + name, authenticates);
        if (!segment.volume().equals(volume)) {
            throw new IOException(objects + " has volume " + segment.volume() + ", not " + volume);
        }
        return new Link(segment, segment.point(LogSegment.crcOf(bytes)), bytes.length);
    }

    @Override
    public String toString() {
        return objects.toString();
    }
}
