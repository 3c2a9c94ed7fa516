package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.node.OpenFile;

/** A container whose header, directory or footer is damaged gets a new directory from its frames. */
final class HealDirectoryTest extends OpenVolumeTrial {
    private static final int CONTAINER_HEADER_BYTES = 32;
    private static final int FRAME_HEADER_BYTES = 48;
    private static final int FOOTER_BYTES = 48;

    /** What is damaged of each container. */
    enum Part {
        HEADER,
        /** The frame table in the directory. */
        TABLE,
        /** The end of the directory: chunk lists, and its checksum. */
        LISTS,
        FOOTER,
        /** All of the directory, and the footer. */
        ALL;

        void damage(PackedContainer container) throws IOException {
            int directory = container.directoryOffset();
            int footer = container.bytes() - FOOTER_BYTES;
            switch (this) {
                case HEADER -> container.flipBit(9);
                case TABLE -> container.flipBit(directory + 3);
                case LISTS -> container.overwrite(footer - 40, new byte[40]);
                case FOOTER -> container.flipBit(footer + 10);
                case ALL -> container.overwrite(directory, new byte[container.bytes() - directory]);
            }
        }
    }

    @BeforeEach
    void storeFile() throws IOException {
        store("a", 3 * MIB);
        volume.close();
    }

    private void deleteIndex() throws IOException {
        Path index = config.locations().hashDb();
        try (Stream<Path> files = Files.walk(index)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.delete(file);
            }
        }
    }

    private void openAndScrub(boolean hasIndex) throws IOException {
        if (!hasIndex) {
            deleteIndex();
        }
        volume = Volume.open(config);
        assertTrue(scrub().damagedContainers() > 0, "control: the scrub finds it");
    }

    @ParameterizedTest
    @CsvSource({
        "HEADER, true", "TABLE, true", "LISTS, true", "FOOTER, true", "ALL, true",
        "HEADER, false", "TABLE, false", "LISTS, false", "FOOTER, false", "ALL, false"
    })
    void aDamagedDirectoryIsMadeAnewFromTheFrames(Part part, boolean hasIndex) throws IOException {
        for (PackedContainer container : containers()) {
            part.damage(container);
        }
        openAndScrub(hasIndex);
        HealReport report = heal();
        assertEquals(List.of(), report.unhealed());
        assertTrue(report.healedContainers() > 0, report::toString);
        assertWhole();
        volume.close();
        deleteIndex();
        volume = Volume.open(config);
        assertWhole();
    }

    @Test
    void controlWithoutAHealAndAnIndexNothingCanBeRead() throws IOException {
        for (PackedContainer container : containers()) {
            Part.ALL.damage(container);
        }
        openAndScrub(false);
        assertThrows(IOException.class, () -> read("a"));
    }

    /** Damages the payload of the first frame, or its list of chunks too. */
    private static void damageFirstFrame(PackedContainer container, boolean alsoList) throws IOException {
        ByteBuffer all = ByteBuffer.wrap(container.read()).order(ByteOrder.LITTLE_ENDIAN);
        int list = all.getInt(CONTAINER_HEADER_BYTES + 28);
        int stored = all.getInt(CONTAINER_HEADER_BYTES + 36);
        int from = CONTAINER_HEADER_BYTES + FRAME_HEADER_BYTES;
        container.overwrite(from + list, new byte[stored]);
        if (alsoList) {
            container.flipBit(from + 5);
        }
    }

    /** Reads the file piece by piece: what can be read has the right bytes. Returns how much cannot be read. */
    private int unreadableBytes(String name) throws IOException {
        byte[] wanted = contents.get(name);
        long inode = volume.lookup(Inode.ROOT, name.getBytes(UTF_8)).inode();
        OpenFile file = volume.open(inode, false);
        int unreadable = 0;
        try {
            int step = 4096;
            for (int at = 0; at < wanted.length; at += step) {
                ByteBuffer found = ByteBuffer.allocate(step);
                try {
                    volume.read(file, at, found);
                    assertArrayEquals(Arrays.copyOfRange(wanted, at, at + step), found.array(), name + " at " + at);
                } catch (IOException e) {
                    unreadable += step;
                }
            }
        } finally {
            volume.close(file);
            volume.forget(inode, 1);
        }
        return unreadable;
    }

    @ParameterizedTest
    @CsvSource({"true, HEADER", "false, HEADER", "true, FOOTER", "false, FOOTER"})
    void aDamagedFrameBesideADamagedDirectoryHealsWhenItsChunksAreListedTwice(boolean hasIndex, Part part)
            throws IOException {
        for (PackedContainer container : containers()) {
            damageFirstFrame(container, false);
            part.damage(container);
        }
        openAndScrub(hasIndex);
        HealReport report = heal();
        assertFalse(report.unhealed().isEmpty(), report::toString);
        int unreadable = unreadableBytes("a");
        assertTrue(unreadable > 0 && unreadable < MIB, "all but a frame of each container is read: " + unreadable);
        assertEquals(List.of(), VolumeChecker.check(volume));
        write("b", contents.get("a"));
        report = heal();
        assertEquals(List.of(), report.unhealed());
        assertTrue(report.fromCopies() > 0, report::toString);
        assertWhole();
    }

    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void aDamagedFrameWhoseChunksAreNotKnownStaysAndTheOthersAreRead(boolean hasIndex, boolean alsoList)
            throws IOException {
        for (PackedContainer container : containers()) {
            damageFirstFrame(container, alsoList);
            Part.ALL.damage(container);
        }
        openAndScrub(hasIndex);
        write("b", contents.get("a"));
        HealReport report = heal();
        assertTrue(report.unhealed().get(0).reason().contains("fingerprints"), report::toString);
        int unreadable = unreadableBytes("a");
        assertTrue(unreadable > 0 && unreadable < MIB, "all but a frame of each container is read: " + unreadable);
        assertEquals(0, unreadableBytes("b"));
        long marked = unhealedChunks();
        assertTrue(marked > 0, "its chunks stay marked");
        volume.close();
        volume = Volume.open(config);
        assertEquals(marked, unhealedChunks());
        assertEquals(unreadable, unreadableBytes("a"), "the same after a remount");
        assertEquals(0, scrub().damagedContainers());
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    /** Without a copy of the frame table nobody knows how many frames a damaged header hides. */
    @Test
    void withoutATableAndWithADamagedHeaderOfAFrameNothingChanges() throws IOException {
        for (PackedContainer container : containers()) {
            container.flipBit(CONTAINER_HEADER_BYTES);
            Part.ALL.damage(container);
        }
        openAndScrub(false);
        HealReport report = heal();
        assertEquals(0, report.healedContainers(), report::toString);
        assertTrue(report.unhealed().get(0).reason().contains("--rebuild-containers"), report::toString);
        assertThrows(IOException.class, () -> read("a"));
    }
}
