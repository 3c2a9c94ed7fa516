package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.sdfs.config.VolumeFileCopy;

/** A volume file that mkfs.sdfs did not write: the commands say where and what is wrong, and change nothing. */
class BadDefinitionTest {
    @TempDir
    Path folder;

    @Test
    void aBadVolumeFileIsRefusedWithFileAndReasonAndNothingIsTouched() throws IOException {
        try (MountedVolume volume = MountedVolume.make(folder.resolve("defined"))) {
            Path file = volume.configFolder().resolve(volume.name() + "-volume-cfg.xml");
            String good = Files.readString(file);
            for (Map.Entry<String, byte[]> bad : badFiles(good).entrySet()) {
                Files.write(file, bad.getValue());
                Map<Path, Long> before = Damage.checksums(folder);

                assertRefused(volume.tryMount(volume.mountPoint()), file, bad.getKey());
                assertRefused(volume.cli("info"), file, bad.getKey());

                assertFalse(volume.isMounted());
                assertEquals(before, Damage.checksums(folder), bad::getKey);
            }
            // The control: only the file was wrong.
            Files.writeString(file, good);
            volume.mount();
        }
    }

    /** Both are types, but the content that the volume has would be stored again. */
    @Test
    void anotherHashTypeThanThatOfTheStoredContentIsRefused() throws IOException {
        try (MountedVolume volume = MountedVolume.make(folder.resolve("cut"))) {
            byte[] content = Bytes.random(1, 3 << 20);
            volume.mount();
            Bytes.writeAndSync(volume.mountPoint().resolve("file"), content);
            volume.unmount();
            Path file = volume.configFolder().resolve(volume.name() + "-volume-cfg.xml");
            String good = Files.readString(file);
            Files.writeString(file, good.replace("\"VARIABLE_SHA256\"", "\"SHA256\""));
            // The copy in either location is enough.
            Files.writeString(volume.data().resolve(VolumeFileCopy.NAME), "damaged");
            Map<Path, Long> before = Damage.checksums(folder);
            Commands.Result refused = volume.tryMount(volume.mountPoint());
            assertEquals(1, refused.exitCode(), refused::output);
            assertTrue(refused.output().contains("Write hash-type=\"VARIABLE_SHA256\" there"), refused::output);
            assertEquals(before, Damage.checksums(folder));
            // The control: with its own type the volume mounts, and finds its content again.
            Files.writeString(file, good);
            volume.mount();
            long stored = volume.figure("stats", "storedBytes");
            Bytes.writeAndSync(volume.mountPoint().resolve("again"), content);
            assertTrue(volume.figure("stats", "storedBytes") - stored < content.length / 2);
            assertTrue(
                    Files.readString(volume.data().resolve(VolumeFileCopy.NAME)).startsWith(good));
        }
    }

    /** By a part of the expected message. */
    private static Map<String, byte[]> badFiles(String good) {
        Map<String, byte[]> bad = new LinkedHashMap<>();
        String root = "<subsystem-config";
        bad.put("a DOCTYPE is not allowed", utf8(good.replace(root, "<!DOCTYPE x [<!ENTITY a \"b\">]>" + root)));
        bad.put("line 5: an unknown element <cloud>", utf8(good.replaceFirst("<locations", "<cloud/><locations")));
        bad.put("attribute write-threads", utf8(good.replaceFirst("write-threads=\"\\d+\"", "write-threads=\"x\"")));
        bad.put("not well-formed", utf8(good.substring(0, good.length() / 2)));
        bad.put("line 1: not well-formed", new byte[0]);
        bad.put("not UTF-8", (good + "<!-- \u00e9 -->").getBytes(StandardCharsets.ISO_8859_1));
        bad.put("version 3", utf8(good.replaceFirst("version=\"2\">", "version=\"3\">")));
        return bad;
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void assertRefused(Commands.Result result, Path file, String reason) {
        assertEquals(1, result.exitCode(), result::output);
        assertTrue(result.output().contains(file.toString()), result::output);
        assertTrue(result.output().contains(reason), () -> "not '" + reason + "' but " + result.output());
    }
}
