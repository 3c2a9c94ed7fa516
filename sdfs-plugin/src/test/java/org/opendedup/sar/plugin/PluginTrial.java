package org.opendedup.sar.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.keys.Argon2Cost;
import org.opendedup.sar.sdfs.cli.CheckCommand;
import org.opendedup.sar.sdfs.cli.SdfsCli;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.w3c.dom.Element;

/** A volume as SDFS mounts it, and sdfscli beside it: both know only SDFS's volume file. */
abstract class PluginTrial {
    static final int CHUNKS = 40;

    @TempDir
    Path folder;

    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    private @Nullable PluginEngine engine;
    Path store;

    @BeforeEach
    void writeVolumeFile() throws IOException {
        store = folder.resolve("chunks");
        writeVolumeFile("");
    }

    final Path volumeFile() {
        return folder.resolve("pool0-volume-cfg.xml");
    }

    final void writeVolumeFile(String attributes) throws IOException {
        Files.writeString(
                volumeFile(),
                "<subsystem-config version=\"3.12.0\"><locations dedup-db-store=\""
                        + folder.resolve("ddb")
                        + "\"/><io hash-type=\"VARIABLE_SHA256\"/><volume name=\"pool0\"/>"
                        + "<local-chunkstore chunk-store=\""
                        + store
                        + "\" hash-db-store=\"" + folder.resolve("hashes") + "\" allocation-size=\"10737418240\""
                        + " chunkstore-class=\"" + SarChunkStore.class.getName() + "\" hashdb-class=\""
                        + SarHashesMap.class.getName() + "\"><extended-config sar-memory-budget=\"400MB\""
                        + " sar-write-threads=\"2\" sar-grace-period-minutes=\"0\" "
                        + Host.moreThan(attributes) + attributes
                        + "/></local-chunkstore></subsystem-config>");
    }

    /** Mounts the volume as SDFS does. */
    final PluginEngine open() throws Exception {
        Element config = (Element) DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(volumeFile().toFile())
                .getElementsByTagName("extended-config")
                .item(0);
        PluginEngine opened = EngineLoader.open(config);
        engine = opened;
        return opened;
    }

    @AfterEach
    void close() throws IOException {
        if (engine != null) {
            engine.close();
            engine = null;
        }
    }

    final Environment environment() {
        out = new StringWriter();
        err = new StringWriter();
        return new Environment(
                Host.variables(folder),
                new PrintWriter(out, true),
                new PrintWriter(err, true),
                false,
                Reader.nullReader(),
                question -> null,
                () -> new Argon2Cost(64, 1, 1));
    }

    final int cli(String... arguments) {
        Environment environment = environment();
        List<String> all = new ArrayList<>(List.of("pool0"));
        all.addAll(List.of(arguments));
        return CommandRunner.run(new SdfsCli(environment), environment, all.toArray(String[]::new));
    }

    /** Runs sdfs-check, which asks no process. */
    final int check(String... options) {
        Environment environment = environment();
        List<String> all = new ArrayList<>(List.of("pool0"));
        all.addAll(List.of(options));
        return CommandRunner.run(new CheckCommand(environment), environment, all.toArray(String[]::new));
    }

    /** Runs a command that must succeed, and returns what it printed as JSON. */
    final Map<String, Object> json(String... arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.add("--json");
        assertEquals(0, cli(all.toArray(String[]::new)), () -> out + " " + err);
        return Json.read(out.toString());
    }

    final long[] put(PluginEngine engine) throws IOException {
        return Chunk.put(CHUNKS, engine, folder);
    }

    final Path socket() {
        return store.resolve("sar/metadata/run/pool0.sock");
    }
}
