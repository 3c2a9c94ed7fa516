package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/** {@code sdfscli VOLUME check} of a mounted volume. */
class CheckOnMountTest {
    private static final int MIB = 1 << 20;

    @TempDir
    Path folder;

    private static Commands.Result check(MountedVolume volume) throws IOException {
        return volume.script("sdfscli", List.of(volume.name(), "check"));
    }

    @Test
    void aMountedVolumeIsCheckedAndAMissingPackNamesItsFiles() throws IOException {
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("checked")))
                .mount()) {
            Bytes.writeAndSync(volume.mountPoint().resolve("lost"), Bytes.random(1, 2 * MIB));
            Commands.Result sound = check(volume);
            assertEquals(0, sound.exitCode(), sound::output);
            assertTrue(sound.output().contains("no defect was found"), sound::output);
            volume.unmount();
            List<Path> packs;
            try (Stream<Path> all = Files.walk(volume.data())) {
                packs = all.filter(path -> path.toString().endsWith(".pack")).toList();
            }
            for (Path pack : packs) {
                Files.delete(pack);
            }
            volume.mount();
            byte[] kept = Bytes.random(2, MIB);
            Bytes.writeAndSync(volume.mountPoint().resolve("kept"), kept);
            Commands.Result lost = check(volume);
            assertEquals(4, lost.exitCode(), lost::output);
            assertTrue(lost.output().contains("Damaged: /lost: " + 2 * MIB + " bytes"), lost::output);
            assertFalse(lost.output().contains("/kept"), lost::output);
            assertArrayEquals(kept, Files.readAllBytes(volume.mountPoint().resolve("kept")));
        }
    }
}
