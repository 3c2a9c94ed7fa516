package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.check.Mend;
import org.opendedup.sar.metadata.record.MetadataHeader.Contents;
import org.opendedup.sar.sdfs.cli.command.CommandOutput;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.control.PluginCommands;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** The commands in the findings of a check exist, and take these arguments. */
class MendingCommandsTest {
    /** A command ends where the sentence goes on. */
    private static final Pattern COMMAND = Pattern.compile("\\b(sdfscli|sdfs-check) ([^,;.&]+)");

    /** Findings of volumes with files, whose commands open one that is not mounted. */
    private static final Set<Kind> OF_UNMOUNTED_FILES = EnumSet.of(Kind.RECEIVE, Kind.ROLLBACK);

    private final Environment environment = new CommandOutput(Path.of("/etc/sdfs")).environment();

    private List<List<String>> commands(String mend) {
        List<List<String>> commands = new ArrayList<>();
        Matcher found = COMMAND.matcher(mend);
        while (found.find()) {
            List<String> words = new ArrayList<>(List.of(found.group(1)));
            words.addAll(Arrays.asList(found.group(2).strip().split(" ")));
            commands.add(words);
        }
        return commands;
    }

    private void parse(List<String> command) {
        CommandLine line = new CommandLine(
                        command.get(0).equals("sdfscli") ? new SdfsCli(environment) : new CheckCommand(environment))
                .setCaseInsensitiveEnumValuesAllowed(true);
        var unused = line.parseArgs(command.subList(1, command.size()).toArray(new String[0]));
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void eachKindOfFindingNamesACommandThatExists(Kind kind) {
        for (boolean inUse : List.of(true, false)) {
            String mend = new Mend("pool0", inUse).of(kind, "/base/a place");
            List<List<String>> commands = commands(mend);
            if (kind == Kind.INDEX) {
                assertTrue(mend.contains("find '/base/a place' -mindepth 1 -delete"), mend);
            } else {
                assertFalse(commands.isEmpty(), mend);
            }
            for (List<String> command : commands) {
                assertEquals("pool0", command.get(1), mend);
                assertDoesNotThrow(() -> parse(command), mend);
            }
        }
    }

    /** SDFS's process answers some commands, and no recipes are there to repair by. */
    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            names = {"RECEIVE", "ROLLBACK"},
            mode = EnumSource.Mode.EXCLUDE)
    void ofChunksWithoutFilesItNamesCommandsThatTheirProcessAnswers(Kind kind) {
        for (boolean inUse : List.of(true, false)) {
            String mend = new Mend("pool0", inUse, Contents.CHUNKS).of(kind, "/base/a place");
            assertFalse(mend.contains("--repair") || mend.contains("=records"), mend);
            for (List<String> command : commands(mend)) {
                assertEquals("pool0", command.get(1), mend);
                assertDoesNotThrow(() -> parse(command), mend);
                assertTrue(command.get(0).equals("sdfs-check") || PluginCommands.has(command.get(2), Map.of()), mend);
            }
        }
    }

    /** sdfs-check works on a volume that is not mounted, and most commands of sdfscli on one that is. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void theCommandsSuitTheStateOfTheVolume(Kind kind) {
        String inUse = new Mend("pool0", true).of(kind, "place");
        if (inUse.contains("sdfs-check")) {
            assertTrue(inUse.indexOf("sdfscli pool0 unmount && ") < inUse.indexOf("sdfs-check"), inUse);
            assertTrue(inUse.contains("sdfscli pool0 unmount && "), inUse);
        }
        String unmounted = new Mend("pool0", false).of(kind, "place");
        assertFalse(unmounted.contains("unmount &&"), unmounted);
        if (unmounted.contains("sdfscli") && !OF_UNMOUNTED_FILES.contains(kind)) {
            assertTrue(unmounted.contains("mount the volume, then: sdfscli"), unmounted);
        }
    }

    @Test
    void controlACommandThatDoesNotExistIsFound() {
        for (String wrong : List.of("sdfs-check pool0 --mend", "sdfscli pool0 mend", "sdfscli pool0 scrub begin")) {
            assertThrows(ParameterException.class, () -> parse(commands(wrong).get(0)), wrong);
        }
    }
}
