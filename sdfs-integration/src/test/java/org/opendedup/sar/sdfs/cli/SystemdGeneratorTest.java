package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;

/** What packaging/debian/sdfs-generator tells systemd; scripts/try-packages --boot starts systemd with it. */
class SystemdGeneratorTest {
    @TempDir
    Path folder;

    @Test
    void theDisksOfAllFoldersAreRequired() throws IOException, InterruptedException {
        VolumeDefinition definition = Definitions.full(Path.of("/srv/50% of \\it"));
        VolumeFile.write(new ConfigDirectory(folder).fileOf("pool0"), definition);
        Set<String> expected = new TreeSet<>();
        expected.add(line(definition.basePath()));
        definition.stores().values().forEach(path -> expected.add(line(path)));
        assertEquals(expected, requirementsOf("pool0"));
    }

    private static String line(Path path) {
        String escaped =
                path.toString().replace("\\", "\\\\").replace("\"", "\\\"").replace("%", "%%");
        return "RequiresMountsFor=\"" + escaped + "\"";
    }

    private Set<String> requirementsOf(String volume) throws IOException, InterruptedException {
        Path script = Commands.projectFolder().resolve("packaging/debian/sdfs-generator");
        Path output = folder.resolve("units");
        ProcessBuilder command = new ProcessBuilder("sh", script.toString(), output.toString()).inheritIO();
        command.environment().put("SDFS_CONFIG_DIR", folder.toString());
        assertEquals(0, command.start().waitFor());
        Set<String> found = new TreeSet<>();
        for (String line : Files.readAllLines(output.resolve("sdfs@" + volume + ".service.d/50-disks.conf"))) {
            if (line.startsWith("RequiresMountsFor")) {
                found.add(line);
            }
        }
        return found;
    }
}
