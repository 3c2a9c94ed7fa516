package org.opendedup.sar.sdfs.cli.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.sdfs.cli.SdfsCli;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.slf4j.Logger;

/** Names that try to forge lines of the log, or to command the terminal. */
class PrintableLogTest {
    private static final String NAME = "a\n2026-11-22 ERROR forged\r\u001b[2J\u009b1m\u202ename\u2028é";
    private static final String ESCAPED =
            "a\\u000a2026-11-22 ERROR forged\\u000d\\u001b[2J\\u009b1m\\u202ename\\u2028é";

    @ParameterizedTest
    @ValueSource(strings = {"logback.xml", "logback-daemon.xml", "logback-foreground.xml"})
    void aNameStaysWithinItsLine(String configuration, @TempDir Path folder) throws Exception {
        IOException cause = new IOException(NAME + " is the cause");
        IOException thrown = new IOException(NAME + " failed", cause);
        thrown.addSuppressed(new IllegalStateException(NAME));
        List<String> lines =
                logged(configuration, folder.resolve("log"), logger -> logger.warn("file {}", NAME, thrown));
        assertTrue(lines.get(0).endsWith("file " + ESCAPED), lines.get(0));
        assertEquals("java.io.IOException: " + ESCAPED + " failed", lines.get(1));
        assertTrue(lines.get(2).startsWith("\tat " + PrintableLogTest.class.getName()), lines.get(2));
        assertTrue(lines.contains("\tSuppressed: java.lang.IllegalStateException: " + ESCAPED), lines.toString());
        assertTrue(lines.contains("Caused by: java.io.IOException: " + ESCAPED + " is the cause"), lines.toString());
        assertEquals(1, lines.stream().filter(line -> line.contains("WARN")).count());
        assertTrue(
                lines.stream().noneMatch(line -> line.contains("\u001b") || line.contains("\u009b")), lines.toString());
    }

    private interface Event {
        void log(Logger logger);
    }

    private static List<String> logged(String configuration, Path file, Event event) throws Exception {
        var bytes = new ByteArrayOutputStream();
        PrintStream before = System.err;
        var context = new LoggerContext();
        try {
            System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
            context.setMDCAdapter(new LogbackMDCAdapter());
            context.putProperty("sdfs.log.file", file.toString());
            var configurator = new JoranConfigurator();
            configurator.setContext(context);
            configurator.doConfigure(Objects.requireNonNull(PrintableLogTest.class.getResource("/" + configuration)));
            event.log(context.getLogger("test"));
        } finally {
            context.stop();
            System.setErr(before);
        }
        String text = Files.exists(file) ? Files.readString(file) : bytes.toString(StandardCharsets.UTF_8);
        return List.of(text.split("\n"));
    }

    @Test
    void theTerminalIsNotCommanded() {
        var bytes = new ByteArrayOutputStream();
        var out = PrintableWriter.to(bytes);
        out.println("two\nlines\t" + "\u001b]0;title\u0007 \u007f é 😀");
        out.printf("%s%n", "x\u001b[A");
        assertEquals(
                "two\nlines\t\\u001b]0;title\\u0007 \\u007f é 😀\nx\\u001b[A\n",
                bytes.toString(StandardCharsets.UTF_8));
    }

    @Test
    void jsonSaysTheSame() throws IOException {
        var bytes = new ByteArrayOutputStream();
        PrintableWriter.to(bytes).println(Json.pretty(Map.of("name", NAME)));
        String printed = bytes.toString(StandardCharsets.UTF_8);
        assertEquals(NAME, Json.read(printed).get("name"));
        assertFalse(printed.contains("\u009b") || printed.contains("\u202e"), printed);
    }

    @Test
    void aMessageOfAnotherIsOnOneLine(@TempDir Path folder) {
        CommandOutput output = new CommandOutput(folder);
        output.set("SDFS_CONFIG_DIR", folder + "/x\ny");
        CommandRunner.run(new SdfsCli(output.environment()), output.environment(), "pool0", "info");
        assertEquals(1, output.err().lines().count(), output.err());
    }
}
