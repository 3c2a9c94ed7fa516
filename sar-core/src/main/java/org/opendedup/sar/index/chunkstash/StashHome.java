package org.opendedup.sar.index.chunkstash;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.index.StoreProgress;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.io.PrivateFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The home of a log on the disk, for an SSD that is not its permanent place (ChunkStash, section 3.4): a mount reads it
 * sequentially to the SSD, and what is new is written back in one piece. A file that is there is never changed: of a
 * segment that has grown, the new bytes are another file. The file {@value #CONTENTS} names those that count, and is
 * replaced last, so an interrupted store leaves the home as it was.
 *
 * <pre>
 * HOME   magic:u64 version:u32 generation:u64 stores:u64 hasEpoch:u8 0:u8*3 epoch:32 highestContainer:u64
 *        checkpointBytes:u64 parts:u32 (segment:u32 from:u64 end:u64)* crc:u32
 * </pre>
 */
public final class StashHome {
    private static final Logger log = LoggerFactory.getLogger(StashHome.class);

    static final String CONTENTS = "HOME";
    private static final String PART = "part-";
    private static final String CHECKPOINT = "checkpoint-";
    private static final long MAGIC = 0x3130_4d48_4853_4353L; // "SCSHHM01"
    private static final int HEADER_BYTES = 72;
    private static final int PART_BYTES = 20;
    private static final int COPY_BYTES = 1 << 20;

    private final Opening opening;

    /** Opens the folder of a home, which is made if it is missing. */
    @FunctionalInterface
    interface Opening {
        Directory open() throws IOException;
    }

    StashHome(Opening opening) {
        this.opening = opening;
    }

    StashHome(Path folder) {
        this(() -> {
            PrivateFiles.createFolders(folder);
            return FileDirectory.open(folder);
        });
    }

    /** A piece of a segment: the bytes from an offset to another. */
    record Part(int segment, long from, long end) {
        String name(long generation) {
            return String.format(Locale.ROOT, "%s%x-%08d-%x", PART, generation, segment, from);
        }

        static long bytes(List<Part> parts) {
            return parts.stream().mapToLong(part -> part.end - part.from).sum();
        }
    }

    /**
     * What a home has.
     *
     * @param generation that of the log
     * @param stores number of stores of this log
     * @param parts those of a segment follow one another
     */
    record Contents(
            long generation,
            long stores,
            @Nullable Epoch epoch,
            long highestContainer,
            long checkpointBytes,
            List<Part> parts) {
        /** Returns what a log has, a part a segment. */
        static Contents of(long generation, StashState state) {
            List<Part> parts = new ArrayList<>();
            for (long[] end : state.records.ends(0)) {
                parts.add(new Part((int) end[0], 0, end[1]));
            }
            return new Contents(generation, 0, state.epoch, state.highestContainer, 0, parts);
        }

        private String checkpoint() {
            return String.format(Locale.ROOT, "%s%x-%d", CHECKPOINT, generation, stores);
        }

        private long end(int segment) {
            return parts.stream()
                    .filter(part -> part.segment == segment)
                    .mapToLong(Part::end)
                    .max()
                    .orElse(0);
        }
    }

    /**
     * Returns what the home has; null if there is none.
     *
     * @throws CorruptionException if it is damaged
     */
    private static @Nullable Contents read(Directory home) throws IOException {
        if (!home.exists(CONTENTS)) {
            return null;
        }
        StashFiles.verify(home, CONTENTS, MAGIC);
        try (StashFiles.Reader in = new StashFiles.Reader(home, CONTENTS, MAGIC)) {
            ByteBuffer header = in.buffer(HEADER_BYTES);
            long generation = header.getLong();
            long stores = header.getLong();
            boolean hasEpoch = header.getInt() == 1;
            Epoch epoch = StashRecords.getEpoch(header);
            long highest = header.getLong();
            long checkpoint = header.getLong();
            int count = header.getInt();
            List<Part> parts = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                ByteBuffer part = in.buffer(PART_BYTES);
                parts.add(new Part(part.getInt(), part.getLong(), part.getLong()));
            }
            in.finish();
            return new Contents(generation, stores, hasEpoch ? epoch : null, highest, checkpoint, parts);
        }
    }

    private static void write(Directory home, Contents contents) throws IOException {
        try (StashFiles.Writer out = new StashFiles.Writer(home, CONTENTS, MAGIC)) {
            ByteBuffer header = out.buffer(HEADER_BYTES);
            header.putLong(contents.generation).putLong(contents.stores).putInt(contents.epoch == null ? 0 : 1);
            StashRecords.putEpoch(header, contents.epoch == null ? new Epoch(new UUID(0, 0), 0, 0) : contents.epoch);
            header.putLong(contents.highestContainer).putLong(contents.checkpointBytes);
            header.putInt(contents.parts.size());
            for (Part part : contents.parts) {
                out.buffer(PART_BYTES).putInt(part.segment).putLong(part.from).putLong(part.end);
            }
            out.finish();
        }
    }

    /**
     * Writes what is new of a log to the home. The log's files, and its checkpoint, must not be deleted meanwhile.
     *
     * @param ssd where the log is
     * @param wanted what it has
     * @throws InterruptedIOException if {@code progress} stopped it; the home stays as it was
     * @throws IOException if that fails, or the home is that of another volume; the home stays as it was
     */
    void store(Directory ssd, Contents wanted, StoreProgress progress) throws IOException {
        if (ssd.exists(StashFiles.DAMAGED)) {
            throw new IOException("damage of the fingerprint index in " + ssd + " was met; it is not stored");
        }
        store(ssd, wanted, opening.open(), progress);
    }

    private static void store(Directory ssd, Contents wanted, Directory home, StoreProgress progress)
            throws IOException {
        Contents before = readIfSound(home);
        if (before != null
                && before.epoch != null
                && wanted.epoch != null
                && !before.epoch.volume().equals(wanted.epoch.volume())) {
            throw new IOException(home + " is the home of the index of volume " + before.epoch.volume());
        }
        boolean isSame = before != null && before.generation == wanted.generation;
        List<Part> parts = new ArrayList<>();
        List<Part> fresh = new ArrayList<>();
        for (Part segment : wanted.parts) {
            long from = before == null || !isSame ? 0 : before.end(segment.segment);
            if (before != null && isSame && from <= segment.end) {
                before.parts.stream()
                        .filter(part -> part.segment == segment.segment)
                        .forEach(parts::add);
            } else {
                from = 0;
            }
            if (from < segment.end) {
                Part part = new Part(segment.segment, from, segment.end);
                fresh.add(part);
                parts.add(part);
            }
        }
        long stores = isSame && before != null ? before.stores + 1 : 1;
        long checkpoint = ssd.length(StashFiles.CHECKPOINT);
        Copying copying = new Copying(ssd, home, checkpoint + Part.bytes(fresh), progress);
        for (Part part : fresh) {
            String name = part.name(wanted.generation);
            StashFiles.deleteIfPresent(home, name); // An interrupted store left it.
            copying.copy(StashLog.name(wanted.generation, part.segment), name, part.from, part.end);
        }
        Contents after = new Contents(
                wanted.generation, stores, wanted.epoch, wanted.highestContainer, checkpoint, List.copyOf(parts));
        StashFiles.deleteIfPresent(home, after.checkpoint());
        copying.copy(StashFiles.CHECKPOINT, after.checkpoint(), 0, checkpoint);
        home.sync();
        write(home, after);
        deleteOthers(home, after);
        StashFiles.writeStores(ssd, stores);
    }

    private static @Nullable Contents readIfSound(Directory home) throws IOException {
        try {
            return read(home);
        } catch (CorruptionException e) {
            log.warn("the home of a fingerprint index is damaged, and is written anew: {}", e.getMessage());
            return null;
        }
    }

    private static void deleteOthers(Directory home, Contents contents) throws IOException {
        Set<String> kept = new HashSet<>(Set.of(contents.checkpoint()));
        contents.parts.forEach(part -> kept.add(part.name(contents.generation)));
        for (String name : home.list()) {
            if ((name.startsWith(PART) || name.startsWith(CHECKPOINT)) && !kept.contains(name)) {
                home.delete(name);
            }
        }
        home.sync();
    }

    /** Copies parts of files from one folder to another, and says how far it is. */
    private static final class Copying {
        private final Directory source;
        private final Directory target;
        private final long bytes;
        private final StoreProgress progress;
        private long done;

        /** @param bytes bytes of all parts */
        Copying(Directory source, Directory target, long bytes, StoreProgress progress) {
            this.source = source;
            this.target = target;
            this.bytes = bytes;
            this.progress = progress;
        }

        /** Makes a file durably of bytes {@code start} to {@code end} of another. */
        void copy(String from, String to, long start, long end) throws IOException {
            Output out = target.create(to);
            try {
                append(from, out, start, end);
                out.force();
            } finally {
                out.close();
            }
        }

        /** Appends bytes {@code start} to {@code end} of a file. */
        void append(String from, Output out, long start, long end) throws IOException {
            ByteBuffer buffer = ByteBuffer.allocate(COPY_BYTES);
            try (Input in = source.open(from)) {
                for (long at = start; at < end; ) {
                    buffer.clear().limit((int) Math.min(COPY_BYTES, end - at));
                    in.readFully(at, buffer);
                    at += buffer.flip().remaining();
                    done += buffer.remaining();
                    out.append(buffer);
                    if (!progress.stored(done, bytes)) {
                        throw new InterruptedIOException("the store of the fingerprint index was stopped");
                    }
                }
            }
        }
    }

    /**
     * Loads the log to the SSD, if there is none or an older one. A home that is missing, of another volume, or not
     * whole is left alone: the index is then what the SSD has, or is made anew.
     *
     * @param ssd folder of the index, which is not open
     * @param volume the volume's identity
     * @return whether it was loaded
     */
    public static boolean load(Path home, Path ssd, UUID volume) throws IOException {
        if (!Files.isDirectory(home)) {
            log.warn("the home of the fingerprint index, {}, is not there", home);
            return false;
        }
        PrivateFiles.createFolders(ssd);
        return load(FileDirectory.open(home), FileDirectory.open(ssd), volume);
    }

    static boolean load(Directory home, Directory ssd, UUID volume) throws IOException {
        Contents contents;
        try {
            contents = read(home);
            if (contents == null || !isWanted(contents, ssd, volume)) {
                return false;
            }
            requireWhole(home, contents);
        } catch (CorruptionException e) {
            log.warn("the home of the fingerprint index is not loaded: {}", e.getMessage());
            return false;
        }
        // The identity first: without it, nothing here is an index until all is there.
        StashFiles.deleteIfPresent(ssd, StashFiles.IDENTITY);
        ssd.sync();
        for (String name : ssd.list()) {
            if (StashFiles.isOfIndex(name)) {
                ssd.delete(name);
            }
        }
        Copying copying =
                new Copying(home, ssd, contents.checkpointBytes + Part.bytes(contents.parts), StoreProgress.NONE);
        loadLog(copying, ssd, contents);
        copying.copy(contents.checkpoint(), StashFiles.CHECKPOINT, 0, contents.checkpointBytes);
        StashFiles.writeStores(ssd, contents.stores);
        ssd.sync();
        StashFiles.writeIdentity(ssd, contents.generation);
        log.info("the fingerprint index was loaded from its home {}", home);
        return true;
    }

    private static void loadLog(Copying copying, Directory ssd, Contents contents) throws IOException {
        Output out = null;
        int segment = 0;
        try {
            for (Part part : contents.parts) {
                if (out == null || part.segment != segment) {
                    close(out);
                    segment = part.segment;
                    out = ssd.create(StashLog.name(contents.generation, segment));
                }
                copying.append(part.name(contents.generation), out, 0, part.end - part.from);
            }
        } finally {
            close(out);
        }
    }

    private static void close(@Nullable Output out) throws IOException {
        if (out != null) {
            out.force();
            out.close();
        }
    }

    private static boolean isWanted(Contents contents, Directory ssd, UUID volume) throws IOException {
        if (contents.epoch == null || !contents.epoch.volume().equals(volume)) {
            log.warn("the home of the fingerprint index is that of another volume, and is not loaded");
            return false;
        }
        if (!ssd.exists(StashFiles.IDENTITY) || ssd.exists(StashFiles.DAMAGED)) {
            return true;
        }
        if (StashFiles.readIdentity(ssd) == contents.generation) {
            return StashFiles.readStores(ssd) < contents.stores;
        }
        Epoch there = Checkpoint.epoch(ssd);
        return there == null || !there.volume().equals(volume) || there.number() < contents.epoch.number();
    }

    /** @throws CorruptionException if a file is missing or has another length */
    private static void requireWhole(Directory home, Contents contents) throws IOException {
        int segment = 0;
        long end = 0;
        for (Part part : contents.parts) {
            if (part.from != (part.segment == segment ? end : 0)) {
                throw new CorruptionException(home + "/" + CONTENTS, -1, "segments without gaps", part.toString());
            }
            segment = part.segment;
            end = part.end;
            requireLength(home, part.name(contents.generation), part.end - part.from);
        }
        requireLength(home, contents.checkpoint(), contents.checkpointBytes);
    }

    private static void requireLength(Directory home, String name, long bytes) throws IOException {
        long found = home.exists(name) ? home.length(name) : -1;
        if (found != bytes) {
            throw new CorruptionException(home + "/" + name, -1, bytes + " bytes", found < 0 ? "no file" : found + "");
        }
    }
}
