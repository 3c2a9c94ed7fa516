package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.volume.CutStores.Promise;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.receive.SnapshotReceiver;
import org.opendedup.sar.volume.store.VolumeStores;
import org.opendedup.sar.volume.stream.StreamMessage;
import org.opendedup.sar.volume.stream.StreamPoint;
import org.opendedup.sar.volume.stream.StreamPosition;

/**
 * Cuts the power at each change that receiving a snapshot makes, or giving one up, or giving up what was changed since.
 * What is received afterwards, from the position that is found, makes exactly the target; the snapshots of before are
 * as they were.
 */
class ReceiveCrashTest extends CrashRun<SnapshotReceiver> {
    private static final int CHANGES = 30;
    private static final int LAST_BYTES = 2000;

    @MemoryFolder
    Path folder;

    private final CrashDirectory data = new CrashDirectory(seed);
    private final CrashKeyValueStore metadata = new CrashKeyValueStore();
    private VolumeConfig config;
    private Volume source;
    /** What the snapshots of the source show. */
    private final Map<String, Map<String, String>> shown = new TreeMap<>();

    private byte[] stream = {};
    /** The volume that the receiver has open. */
    private VolumeContext opened;

    private boolean givesUp;
    /** Whether the snapshot that is given up is the first one, so that no file is left. */
    private boolean isFirst;
    /** Whether programs have changed the files since the base. */
    private boolean isChanged;
    /** Whether nobody goes on giving up after the crash. */
    private boolean forgets;
    /** Whether whoever goes on leaves out what follows the position. */
    private boolean skips;

    private void make() throws IOException {
        VolumeConfig ofSource = VolumeConfigs.in(folder.resolve("source"), 100L << 30, Chunking.VARIABLE_SHA256);
        Files.createDirectories(ofSource.locations().metadata());
        source = VolumeInMemory.create(ofSource, seed).open();
        config = VolumeConfigs.in(folder.resolve("replica"), 100L << 30, Chunking.VARIABLE_SHA256);
        Files.createDirectories(config.locations().metadata());
        Volume.create(config, data, metadata, InstantSource.system());
        RandomTree tree = new RandomTree(new SplittableRandom(seed));
        tree.change(source, CHANGES);
        snapshot("first");
        tree.change(source, CHANGES);
        snapshot("second");
        stream = TestSender.stream(source, "first", null);
        CutStores stores = new CutStores(data, metadata);
        if (!isFirst) {
            try (SnapshotReceiver receiver = open(stores)) {
                receive(receiver, stream);
                if (isChanged) {
                    receiver.end();
                }
            }
            stream = TestSender.stream(source, "second", "first");
        }
        if (isChanged) {
            try (Volume changed = Volume.open(config, inMemory(stores), Verification.CHECKSUMS)) {
                new RandomTree(new SplittableRandom(seed + 1)).change(changed, CHANGES);
            }
        }
        // It remembers its batches, so that copies can be made of it any number of times.
        metadata.crash(seed);
    }

    @AfterEach
    void close() throws IOException {
        source.close();
    }

    private void snapshot(String name) throws IOException {
        source.snapshots().create(name, 0, false);
        shown.put(name, TreeDigest.of(source, TreeDigest.snapshotRoot(source, name)));
    }

    @Override
    CutStores stores(long crashSeed) throws IOException {
        CutStores stores = new CutStores(data.crash(crashSeed), metadata.crash(0));
        if (givesUp) {
            try (SnapshotReceiver receiver = open(stores)) {
                // All chunks come before what uses them.
                byte[] part = Arrays.copyOf(stream, stream.length - LAST_BYTES / 4);
                assertThrows(EOFException.class, () -> receive(receiver, part));
                StreamPoint reached = Objects.requireNonNull(receiver.reached());
                assertTrue(reached.position().compareTo(StreamPosition.START) > 0, "nothing was received");
            }
        }
        return stores;
    }

    @Override
    SnapshotReceiver open(CutStores stores) throws IOException {
        return new SnapshotReceiver(
                () -> opened = VolumeContext.open(
                        config, inMemory(stores), Verification.CHECKSUMS, VolumeContext.Purpose.RECEIVING),
                config.locations().metadata());
    }

    private static VolumeStores inMemory(CutStores stores) {
        return new VolumeStores(stores.data(), stores.metadata(), new HeapChunkIndex(), InstantSource.system());
    }

    @Override
    void run(SnapshotReceiver receiver) throws IOException {
        if (givesUp) {
            receiver.abort();
            return;
        }
        // Ends early some times: what comes late in the stream is applied in several steps then.
        for (int left = LAST_BYTES; left > 0; left -= LAST_BYTES / 4) {
            StreamPoint reached = receiver.reached();
            byte[] rest = from(reached == null ? StreamPosition.START : reached.position());
            if (left < rest.length) {
                byte[] part = Arrays.copyOf(rest, rest.length - left);
                try {
                    receive(receiver, part);
                } catch (EOFException e) {
                    opened.committer().commit();
                }
            }
        }
        StreamPoint reached = receiver.reached();
        receive(receiver, from(reached == null ? StreamPosition.START : reached.position()));
    }

    private byte[] from(StreamPosition position) throws IOException {
        return TestSender.stream(source, "second", "first", position);
    }

    /** Receives, and commits again and again. */
    private void receive(SnapshotReceiver receiver, byte[] whole) throws IOException {
        int[] read = new int[1];
        Progress committing = (stage, done, of) -> {
            if (++read[0] % 7 == 0) {
                try {
                    opened.committer().commit();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        };
        try {
            receiver.receive(TestSender.begun(whole), null, isChanged, committing);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    @Override
    List<String> problems(CutStores left) throws IOException {
        try (SnapshotReceiver receiver = open(left)) {
            StreamPoint reached = receiver.reached();
            if (givesUp && reached != null) {
                if (forgets) {
                    opened.committer().commitWith(() -> opened.metadata().setReplica(null));
                } else {
                    receiver.abort();
                }
            }
            boolean isReceived = receiver.greeting().snapshots().size() == 2;
            if (!givesUp && !isReceived) {
                receive(receiver, rest(reached == null ? StreamPosition.START : reached.position()));
            }
        }
        List<String> problems = new ArrayList<>();
        try (Volume found = Volume.open(config, inMemory(left), Verification.CHECKSUMS)) {
            List<String> names =
                    found.snapshots().list().stream().map(SnapshotRecord::name).toList();
            List<String> expected = isFirst ? List.of() : givesUp ? List.of("first") : List.of("first", "second");
            if (!names.equals(expected)) {
                problems.add("snapshots " + names);
            }
            for (String name : names) {
                if (!TreeDigest.of(found, TreeDigest.snapshotRoot(found, name)).equals(shown.get(name))) {
                    problems.add(name + " is another one");
                }
            }
            if (isFirst) {
                if (!found.context().metadata().namespace().isEmpty(Inode.ROOT) || found.isReplica()) {
                    problems.add("files are left, or the volume is a replica");
                }
                if (found.context().metadata().totals().files() != 1) {
                    problems.add(found.context().metadata().totals() + " are left");
                }
            } else if (!TreeDigest.of(found, Inode.ROOT).equals(shown.get(expected.get(expected.size() - 1)))) {
                problems.add("the files are not those of the last of " + expected);
            }
            problems.addAll(VolumeChecker.check(found));
        }
        return problems;
    }

    private byte[] rest(StreamPosition position) throws IOException {
        byte[] rest = from(position);
        if (!skips) {
            return rest;
        }
        // As if the position that was noted were a later one.
        StreamPosition later = new StreamPosition(position.inode() + 3, 0);
        List<StreamMessage> less = TestSender.messages(from(later));
        less.set(0, TestSender.messages(rest).get(0));
        return TestSender.stream(less);
    }

    @Test
    void aCrashAtAnyChangeGoesOn() throws IOException {
        make();
        assertNoCutLoses(10);
    }

    @Test
    void aCrashWhileASnapshotIsGivenUpLeavesTheBase() throws IOException {
        make();
        givesUp = true;
        assertNoCutLoses(3);
    }

    @Test
    void aCrashWhileTheFirstSnapshotIsGivenUpLeavesNoFile() throws IOException {
        isFirst = true;
        make();
        givesUp = true;
        assertNoCutLoses(3);
        forgets = true;
        boolean isNoticed = false;
        int all = changes().size();
        for (int at = 0; at < all && !isNoticed; at++) {
            isNoticed = !problemsOf(cut(stores(seed), at, false, seed)).isEmpty();
        }
        assertTrue(isNoticed, "the control: whoever does not go on leaves files");
    }

    @Test
    void aCrashWhileChangesAreDiscardedGoesOn() throws IOException {
        isChanged = true;
        make();
        assertNoCutLoses(10);
        assertIsNoticed(Promise.FORCE_DOES_NOTHING);
    }

    @Test
    void controlBytesThatAreNotDurableAreNoticed() throws IOException {
        make();
        assertIsNoticed(Promise.FORCE_DOES_NOTHING);
    }

    @Test
    void controlALaterPositionIsNoticed() throws IOException {
        make();
        skips = true;
        boolean isNoticed = false;
        int all = changes().size();
        for (int at = 1; at <= all && !isNoticed; at++) {
            isNoticed =
                    !problemsOf(cut(stores(seed + at), at, false, seed + at)).isEmpty();
        }
        assertTrue(isNoticed);
    }
}
