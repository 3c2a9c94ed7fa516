package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.opendedup.sar.TestFolders;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.join.JoinLimits;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.engine.VolumeCondition;
import org.opendedup.sar.volume.names.AccessTimes;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;

/** A volume that is opened for reading only is read, also where it is damaged, and no file of it changes. */
@Timeout(120)
class ReadOnlyVolumeTest extends OpenVolumeTrial {
    /** What one file is: its bytes and its time. */
    private Map<String, String> files() throws IOException {
        Map<String, String> found = new TreeMap<>();
        try (Stream<Path> paths = Files.walk(folder)) {
            for (Path path : (Iterable<Path>) paths::iterator) {
                var attributes = Files.readAttributes(path, BasicFileAttributes.class);
                int bytes = attributes.isRegularFile() ? Arrays.hashCode(Files.readAllBytes(path)) : 0;
                found.put(path.toString(), attributes.lastModifiedTime() + " " + attributes.size() + " " + bytes);
            }
        }
        return found;
    }

    private Set<String> changedSince(Map<String, String> before) throws IOException {
        Map<String, String> now = files();
        Set<String> names = new TreeSet<>(before.keySet());
        names.addAll(now.keySet());
        names.removeIf(name -> Objects.equals(before.get(name), now.get(name)));
        return names;
    }

    private static void assertRefused(Executable change) {
        IOException refused = assertThrows(IOException.class, change);
        assertTrue(refused.getMessage().contains("mounted read-only"), refused.toString());
    }

    @Override
    VolumeConfig configured() {
        return VolumeConfigs.in(folder.resolve("volume"), 4L << 30, Chunking.VARIABLE_SHA256);
    }

    @Test
    void whatIsReadAndAskedForChangesNoFile() throws Exception {
        store("a", 3 * MIB);
        store("b", MIB);
        remove("b");
        volume.close();
        PackedContainer container = containers().get(0);
        container.flipBit(container.bytes() / 3);
        Map<String, String> before = files();
        volume = Volume.openReadOnly(config, Verification.CHECKSUMS);
        VolumeMaintenance maintenance = volume.maintenance();
        maintenance.heal().setDelays(0, 0);
        assertFalse(canRead("a", 0, 3 * MIB), "a frame is damaged");
        assertTrue(canRead("a", 3 * MIB - 1000, 1000));
        long inode = volume.lookup(Inode.ROOT, "a".getBytes(UTF_8)).inode();
        assertFalse(volume.noteAccess(inode, AccessTimes.ALWAYS));
        assertRefused(() -> volume.open(inode, true));
        OpenFile file = volume.open(inode, false);
        volume.sync(file);
        volume.sync();
        volume.context().committer().tick();
        volume.close(file);
        Owner root = new Owner(0, 0);
        assertRefused(() -> volume.makeNode(Inode.ROOT, "new".getBytes(UTF_8), 0100644, 0, root));
        assertRefused(() -> volume.unlink(Inode.ROOT, "a".getBytes(UTF_8)));
        volume.collector().collect(new CollectionLimits(0, true), (done, bytes, returned) -> true);
        assertRefused(() -> maintenance.heal().run(soFar -> true));
        assertRefused(() -> maintenance.scrub().run((totals, rest, next) -> true));
        assertRefused(() -> maintenance.check().run((step, done, of) -> {}));
        assertRefused(() -> maintenance.join().run(JoinLimits.ALL, Progress.NONE));
        assertRefused(
                () -> volume.collector().collect(new CollectionLimits(0, false), (done, bytes, returned) -> true));
        assertRefused(() -> maintenance.backups().backUp(4));
        assertRefused(() -> maintenance.backups().backUpTo(folder.resolve("backup")));
        assertEquals(List.of(), maintenance.backups().list());
        assertFalse(
                volume.maintenance().damage().list((step, done, of) -> {}).isClean(), "what a read found is listed");
        VolumeCondition condition = volume.condition();
        assertEquals(null, condition.stopped());
        assertTrue(condition.index().usable());
        volume.close();
        assertEquals(Set.of(), changedSince(before));
        open();
        volume.close();
        assertNotEquals(Set.of(), changedSince(before), "the control: a mount that may write does");
    }

    @Test
    void aVolumeThatWasNotClosedIsRecoveredFirst() throws IOException {
        byte[] stored = store("a", MIB);
        // As after kill -9, and with a container that is open.
        Path crashed = folder.resolve("crashed");
        TestFolders.copy(folder.resolve("volume"), crashed);
        volume.close();
        Files.move(folder.resolve("volume"), folder.resolve("closed"));
        Files.move(crashed, folder.resolve("volume"));
        volume = Volume.openReadOnly(config, Verification.CHECKSUMS);
        assertArrayEquals(stored, read("a"));
        volume.close();
        Map<String, String> before = files();
        volume = Volume.openReadOnly(config, Verification.CHECKSUMS);
        assertArrayEquals(stored, read("a"));
        volume.close();
        assertEquals(Set.of(), changedSince(before), "it is closed in order now");
        open();
        assertWhole();
    }
}
