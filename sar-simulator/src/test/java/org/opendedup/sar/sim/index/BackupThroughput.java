package org.opendedup.sar.sim.index;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.chunkstash.CuckooTable;
import org.opendedup.sar.index.chunkstash.StashSettings;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.sim.options.ChunkTraceSource;
import org.opendedup.sar.sim.trace.BackupVersion;
import org.opendedup.sar.volume.store.ChunkIndexes;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/**
 * One process of {@code scripts/bench index --parts papers}: stores a backup with one system, and tells what it took.
 * The program that starts it copies the files, empties the kernel's cache and reads the counters of the disk. Before
 * and after what is measured, this process writes a line and waits for one.
 */
@Command(name = "BackupThroughput", mixinStandardHelpOptions = true)
public final class BackupThroughput implements Callable<Integer> {
    /** Systems that are compared. */
    enum SystemKind {
        /** Bloom filter, cache of containers, BerkeleyDB Java Edition. */
        ZHU08,
        ROCKSDB,
        CHUNKSTASH
    }

    /** What is stored. */
    enum Backup {
        /** Chunks of earlier backups, which have nothing in common with the trace. */
        KNOWN,
        FIRST,
        SECOND,
        /** The files of the second that changed. */
        INCREMENTAL
    }

    private static final int SEGMENT_BYTES = 2 << 20;
    private static final int CHUNK_BYTES = 8192;
    /** Numbers from here on are those of earlier backups; a trace's numbers are lower. */
    private static final long KNOWN = 1L << 56;
    /** As many chunks as the 20 containers of 1024 in the ChunkStash paper (section 4.3). */
    private static final int CACHED_CONTAINERS = 40;

    private static final int WARM_UP_CHUNKS = 40_000;
    private static final long SETTLED_MILLIS = 2000;

    private static final ObjectMapper JSON = new ObjectMapper();

    @Option(names = "--system", required = true)
    private SystemKind system = SystemKind.CHUNKSTASH;

    @Option(names = "--folder", required = true)
    private Path folder = Path.of("");

    @Option(names = "--backup", required = true)
    private Backup backup = Backup.FIRST;

    @Option(names = "--known", description = "Chunks of earlier backups.")
    private long known;

    @Option(names = "--memory", description = "Bytes; 0: as much as the table and the pages of ChunkStash.")
    private long memory;

    @Option(names = "--prepare", description = "What is stored is not measured; the index is left at rest.")
    private boolean prepare;

    @Option(names = "--sampling", description = "One of how many entries ChunkStash's table has.")
    private int sampling = 1;

    @Option(names = "--seconds", description = "Stop after this time.")
    private double mostSeconds = Double.MAX_VALUE;

    @ArgGroup(multiplicity = "1")
    private Source source = new Source();

    @Option(names = "--chunks")
    private int chunks = 100_000;

    @Option(names = "--run")
    private int run = 250;

    @Option(names = "--seed")
    private long seed = 1;

    /** The trace: exactly one of the two. */
    static final class Source extends ChunkTraceSource {
        @Option(names = "--synthetic")
        @Nullable
        SyntheticTrace synthetic;

        @Override
        protected String nameOfOther() {
            return String.valueOf(synthetic);
        }
    }

    /**
     * What is told at the end.
     *
     * @param chunks chunks that were stored
     * @param bytes their length
     * @param foundChunks those that the index found
     * @param seconds wall time
     * @param backupChunks chunks of the whole backup; more than were stored if the time did not suffice
     * @param asked chunks that BerkeleyDB was asked for; -1 for other systems
     * @param logReads reads of containers' fingerprints, and for ChunkStash of its log; -1 if not known
     * @param memory memory that the system was given, in bytes
     */
    record Outcome(
            long chunks,
            long bytes,
            long foundChunks,
            double seconds,
            long backupChunks,
            long asked,
            long logReads,
            long memory) {}

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new BackupThroughput())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .execute(arguments));
    }

    @Override
    public Integer call() throws IOException {
        List<BackupVersion> versions = versions();
        long expected = known + versions.get(0).chunks() + versions.get(1).chunks();
        Files.createDirectories(folder);
        StashSettings stash = new StashSettings(
                StashSettings.tableBytes(expected) + (1 << 20),
                CACHED_CONTAINERS + 2,
                StashSettings.SEGMENT_BYTES,
                sampling,
                StashSettings.Samples.UNIFORM,
                CuckooTable.CANDIDATES);
        long ofChunkStash = stash.tableBytes() + (long) stash.frames() * StoredContainers.ENTRY_BYTES * 1024;
        long bytes = memory > 0 ? memory : Math.max(ChunkIndexes.MIN_MEMORY_BYTES, ofChunkStash);
        BackupVersion stored = stored(versions);
        Reader input = new InputStreamReader(System.in, StandardCharsets.UTF_8);
        if (!prepare) {
            warmUp(stash, bytes, expected);
        }
        try (IndexModel model = open(folder, stash, bytes, expected)) {
            tell("ready", input);
            Outcome outcome = store(model, stored, bytes);
            tell(JSON.writeValueAsString(outcome), input);
        }
        if (prepare) {
            settle(stash, bytes, expected);
        }
        return 0;
    }

    /** Lets the JVM compile: stores made chunks twice in another index of the same system. */
    private void warmUp(StashSettings stash, long bytes, long expected) throws IOException {
        Path other = Files.createTempDirectory("sar-warm-up");
        try (IndexModel model = open(other, stash, bytes, expected)) {
            BackupVersion made = made(WARM_UP_CHUNKS);
            Outcome first = store(model, made, bytes);
            Outcome second = store(model, made, bytes);
            if (first.foundChunks() != 0 || second.foundChunks() == 0) {
                throw new AssertionError(system + " found " + first + " and " + second);
            }
        } finally {
            PrivateFiles.deleteFolder(other);
        }
    }

    /** Opens the index once more until it does no more work of its own, such as merges. */
    private void settle(StashSettings stash, long bytes, long expected) throws IOException {
        try (IndexModel model = open(folder, stash, bytes, expected)) {
            Set<String> before = Set.of();
            for (Set<String> now = files(); !now.equals(before); now = files()) {
                before = now;
                Thread.sleep(SETTLED_MILLIS);
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private Set<String> files() throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.map(file -> file + " " + file.toFile().length()).collect(Collectors.toSet());
        }
    }

    private static void tell(String line, Reader input) throws IOException {
        System.out.println(line);
        System.out.flush();
        int unused = input.read();
    }

    private List<BackupVersion> versions() throws IOException {
        List<BackupVersion> versions = source.synthetic != null
                ? source.synthetic.versions(chunks, run, seed)
                : BackupVersion.read(Objects.requireNonNull(source.trace()));
        if (versions.size() < 2) {
            throw new ParameterException(new CommandLine(this), "the trace has fewer than two backups");
        }
        return versions;
    }

    private BackupVersion stored(List<BackupVersion> versions) {
        return switch (backup) {
            case KNOWN -> made(known);
            case FIRST -> versions.get(0);
            case SECOND -> versions.get(1);
            case INCREMENTAL -> SyntheticTrace.changedFiles(versions.get(0), versions.get(1));
        };
    }

    private static BackupVersion made(long count) {
        BackupVersion version = new BackupVersion();
        for (long number = 0; number < count; number++) {
            version.add(KNOWN + number, CHUNK_BYTES);
        }
        return version;
    }

    private IndexModel open(Path files, StashSettings stash, long bytes, long expected) throws IOException {
        return switch (system) {
            case ZHU08 -> new BerkeleyModel(files, bytes, expected, CACHED_CONTAINERS);
            case CHUNKSTASH -> ChunkStashModel.open(files, stash);
            case ROCKSDB -> new RocksDbModel(ChunkIndexes.open(IndexClass.ROCKSDB, files, bytes));
        };
    }

    private Outcome store(IndexModel model, BackupVersion version, long bytes) throws IOException {
        TraceSegment segment = new TraceSegment();
        long storedChunks = 0;
        long storedBytes = 0;
        long began = System.nanoTime();
        boolean inTime = true;
        for (int chunk = 0; chunk < version.chunks() && inTime; chunk++) {
            segment.add(version.fingerprint(chunk), version.length(chunk));
            if (segment.bytes() >= SEGMENT_BYTES || chunk + 1 == version.chunks()) {
                model.store(segment);
                storedChunks += segment.count();
                storedBytes += segment.bytes();
                segment.clear();
                inTime = (System.nanoTime() - began) / 1e9 < mostSeconds;
            }
        }
        model.finish();
        double seconds = (System.nanoTime() - began) / 1e9;
        return new Outcome(
                storedChunks,
                storedBytes,
                model.foundChunks(),
                seconds,
                version.chunks(),
                model instanceof BerkeleyModel berkeley ? berkeley.lookups() : -1,
                model instanceof RocksDbModel ? -1 : model.reads(),
                bytes);
    }

    /** The volume's index in RocksDB. */
    private static final class RocksDbModel extends ChunkIndexModel {
        RocksDbModel(ChunkIndex index) throws IOException {
            super(index);
        }

        @Override
        void countReads() {
            // The program that starts this process does.
        }

        @Override
        long indexBytes() {
            return 0;
        }

        @Override
        long cacheBytes() {
            return 0;
        }
    }
}
