package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import javax.management.Attribute;
import javax.management.Descriptor;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.metadata.remote.Promise;
import org.opendedup.sar.objects.StorePrices;
import org.opendedup.sar.sdfs.cli.command.CommandOutput;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.control.SarControl;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.collect.FakeCollector;
import org.opendedup.sar.sdfs.collect.GarbageCollections;
import org.opendedup.sar.sdfs.collect.RecompressSetting;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.OptionValues;
import org.opendedup.sar.sdfs.config.PluginOptions;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;
import org.opendedup.sar.sdfs.config.VolumeOption;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import org.opendedup.sar.sdfs.jmx.FakeSar;
import org.opendedup.sar.sdfs.jmx.SarAdministration;
import org.opendedup.sar.sdfs.jmx.VolumeRegistration;
import org.opendedup.sar.sdfs.jobs.StartTimes;
import org.opendedup.sar.volume.config.RemoteSettings;
import org.opendedup.sar.volume.config.VolumeConfig;
import picocli.CommandLine;

/**
 * Follows every option through all places: the command line of mkfs.sdfs, the volume file, reports, commands that
 * change a mounted volume, JMX, and the table in the documentation.
 */
class OptionsTest {
    private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

    /** Options that decide about the values of others; {@link MkfsCommandTest} has what they do. */
    private static final List<VolumeOption<?>> DECIDING = List.of(
            VolumeOptions.COMPRESSION,
            VolumeOptions.BACKUP_VOLUME,
            VolumeOptions.TIER_SHARE,
            VolumeOptions.TIER_UNPROTECTED);

    /** Options of the volume file whose values those decide. */
    private static final List<VolumeOption<?>> DECIDED = List.of(
            VolumeOptions.CODEC, VolumeOptions.CODEC_LEVEL, VolumeOptions.FRAME_SIZE, VolumeOptions.TIER_CAPACITY);

    /** Those of a volume in an object store, which has not all others. */
    private static final List<VolumeOption<?>> OF_STORE = List.of(
            VolumeOptions.OBJECT_STORE,
            VolumeOptions.DURABILITY,
            VolumeOptions.STORE_PRICES,
            VolumeOptions.LOCAL_CACHE,
            VolumeOptions.CACHE_SIZE);

    @TempDir
    Path folder;

    private CommandOutput output;
    private OptionValues wanted;

    @BeforeEach
    void chooseValues() {
        output = new CommandOutput(folder.resolve("etc"));
        VolumeDefinition full = Definitions.full(folder.resolve("base"));
        wanted = full.withPlaces(place -> place.startsWith(folder) ? place : folder.resolve(place.getFileName()))
                .with(VolumeOptions.METADATA_LOCATION, folder.resolve("metadata"))
                .values();
    }

    @Test
    void theFullVolumeHasAnotherValueThanTheDefaultForEachOption() throws Exception {
        List<VolumeOption<?>> declared = new ArrayList<>();
        for (Field field : VolumeOptions.class.getFields()) {
            if (field.getType() == VolumeOption.class) {
                declared.add((VolumeOption<?>) field.get(null));
            }
        }
        assertEquals(VolumeOptions.ALL.size(), declared.size());
        assertTrue(VolumeOptions.ALL.containsAll(declared));
        for (VolumeOption<?> option : VolumeOptions.ALL) {
            assertEquals(
                    !DECIDING.contains(option) && option != VolumeOptions.LOCAL_CACHE,
                    option.isStored(),
                    option::toString);
            if (option.isStored() && !OF_STORE.contains(option)) {
                assertTrue(wanted.isSet(option), () -> "Definitions.full lacks " + option);
                assertNotEquals(OptionValues.NONE.text(option), wanted.text(option), option::toString);
            }
        }
    }

    @Test
    void anOptionOfMkfsIsInTheVolumeFileAndInReports() throws IOException {
        make();
        VolumeDefinition read = VolumeFile.read(volumeFile());
        String file = Files.readString(volumeFile());
        output = new CommandOutput(folder.resolve("etc"));
        assertEquals(ExitCode.OK, sdfscli("info", "--json"), output.err());
        Map<String, Object> report = Json.read(output.out());
        for (VolumeOption<?> option : VolumeOptions.ALL) {
            if (OF_STORE.contains(option)) {
                continue;
            }
            if (option.isStored() && !DECIDED.contains(option) && option != VolumeOptions.SSD_CAPACITY) {
                assertEquals(wanted.text(option), read.values().text(option), option::toString);
            }
            if (option.isStored()) {
                assertTrue(file.contains("=\"" + read.values().text(option) + "\""), option::toString);
            }
            boolean isReported =
                    !DECIDING.contains(option) && option != VolumeOptions.CODEC && option != VolumeOptions.CODEC_LEVEL;
            assertEquals(isReported, !option.key().isEmpty(), option::toString);
            if (isReported) {
                Map<String, Object> part = option.part().isEmpty() ? report : Json.object(report, option.part());
                Object value = read.values().json(option);
                assertEquals(String.valueOf(value), String.valueOf(part.get(option.key())), option::toString);
            }
        }
        assertEquals("lz4", report.get("compression"));
    }

    @Test
    void aMountedVolumeTakesWhatMayChangeAndRefusesTheRest() throws Exception {
        make();
        VolumeDefinition before = VolumeFile.read(volumeFile());
        var administration = administration(before);
        var control = new SarControl(administration, (path, from, visitor) -> {
            throw new IOException("not here");
        });
        try (var collections = collections(before);
                var registration = VolumeRegistration.register("options", beans -> {
                    beans.sar(administration);
                    beans.collections(collections, StartTimes.NEVER);
                })) {
            for (VolumeOption<?> option : VolumeOptions.ALL) {
                String[] command = option.changedBy().split(" ");
                boolean isParameter = List.of("sar set", "sar resize", "gc set")
                        .contains(String.join(" ", Arrays.copyOf(command, 2)));
                assertEquals(isParameter, attribute(option) != null, () -> option + " and JMX");
                if (command.length == 1 && !command[0].isEmpty()) {
                    assertNotNull(
                            new CommandLine(new SdfsCli(output.environment()))
                                    .getSubcommands()
                                    .get(command[0]),
                            option.changedBy());
                } else if (command[0].equals("set")) {
                    CommandLine set = new CommandLine(new SdfsCli(output.environment()))
                            .getSubcommands()
                            .get("set");
                    assertNotNull(set.getCommandSpec().findOption(command[1]), option.changedBy());
                } else if (!option.changedBy().isEmpty()) {
                    CommandLine found = new CommandLine(new SdfsCli(output.environment()))
                            .getSubcommands()
                            .get(command[0])
                            .getSubcommands()
                            .get(command[1]);
                    assertNull(found.getCommandSpec().findOption("--volume-name"), option.changedBy());
                    assertTrue(
                            command.length == 2 || found.getCommandSpec().findOption(command[2]) != null,
                            option.changedBy());
                }
                boolean isSar = isParameter && command[0].equals("sar");
                Map<String, Object> request =
                        Map.of("action", "set", "changes", Map.of(option.key(), String.valueOf(option)));
                if (SarSettings.PARAMETERS.stream().noneMatch(each -> each.key().equals(option.key()))) {
                    var e = assertThrows(Exception.class, () -> control.answer(request), option::toString);
                    assertTrue(e.getMessage().contains("is no parameter"), e.getMessage());
                }
                if (isParameter) {
                    takes(option, isSar ? control : null);
                }
            }
        }
    }

    /** An option that is declared and stored, but in no settings, would have no effect. */
    @Test
    void eachValueReachesTheEngineOrTheDaemon() {
        VolumeDefinition full = new VolumeDefinition(wanted);
        for (VolumeOption<?> option : VolumeOptions.ALL) {
            // Stored for SDFS only.
            if (option.isStored() && option != VolumeOptions.FILE_MODE && !OF_STORE.contains(option)) {
                assertTrue(isUsed(option, full), option::toString);
            }
        }
    }

    @Test
    void theOptionsOfAnObjectStoreAreKeptAndReachTheEngine() throws Exception {
        Path store = Files.createDirectories(folder.resolve("store"));
        String address = "file://" + store;
        var command = new MkfsCommand(
                output.environment(),
                config -> Files.createDirectories(config.locations().data()));
        Path cache = folder.resolve("cache");
        int code = CommandRunner.run(
                command,
                output.environment(),
                "pool",
                folder.resolve("base").toString(),
                "--volume-capacity=1TB",
                "--object-store=" + address,
                "--durability=remote",
                "--store-prices=0.02,0.01,0.001,0.05,7",
                "--local-cache=" + cache + ":3GB");
        assertEquals(ExitCode.OK, code, output.err());
        VolumeDefinition read = VolumeFile.read(folder.resolve("etc/pool-volume-cfg.xml"));
        VolumeConfig.Locations locations = read.engineConfig().locations();
        assertEquals(
                new RemoteSettings(address, Promise.REMOTE, 3L << 30, new StorePrices(0.02, 0.01, 0.001, 0.05, 7)),
                locations.remote());
        assertEquals(cache, locations.data());
        assertTrue(read.backups().isOff());
        output = new CommandOutput(folder.resolve("etc"));
        code = CommandRunner.run(new SdfsCli(output.environment()), output.environment(), "pool", "info", "--json");
        assertEquals(ExitCode.OK, code, output.err());
        assertEquals(
                Map.of(
                        "address",
                        address,
                        "durability",
                        "remote",
                        "prices",
                        "0.02,0.01,0.001,0.05,7",
                        "cacheBytes",
                        3L << 30),
                Json.object(Json.read(output.out()), "objectStore"));
    }

    private <T> boolean isUsed(VolumeOption<T> option, VolumeDefinition full) {
        var texts = new ArrayList<>(option.choices());
        texts.addAll(
                List.of("1 60 32 0.3 128KB 256KB 3TB 0600 zstd:12 45m off ssd sampling=4 lru last=3 other".split(" ")));
        texts.add(folder + "/x");
        for (String text : texts) {
            VolumeDefinition other;
            try {
                other = full.with(option, option.parse(text));
            } catch (IllegalArgumentException e) {
                continue; // Not of this type, or not allowed with the other values.
            }
            if (!other.equals(full)) {
                return !used(other).equals(used(full));
            }
        }
        throw new AssertionError("no other value of " + option);
    }

    private static List<Object> used(VolumeDefinition definition) {
        return List.of(
                definition.engineConfig(),
                definition.basePath(),
                definition.backups(),
                definition.garbageCollectionSchedule(),
                definition.scrubSchedule(),
                definition.snapshotSchedule(),
                definition.snapshotKeep(),
                definition.recompress(),
                definition.isEncrypted());
    }

    /** Changes an option in both ways, to its default and back. */
    private <T> void takes(VolumeOption<T> option, @Nullable SarControl control) throws Exception {
        T other = option.byDefault().orElseGet(() -> option.least().orElseThrow());
        MBeanAttributeInfo attribute = Objects.requireNonNull(attribute(option));
        Descriptor limits = attribute.getDescriptor();
        assertEquals(bound(option.least()), limits.getFieldValue("minValue"), option::toString);
        if (limits.getFieldValue("legalValues") instanceof String[] legal) {
            assertEquals(option.choices(), List.of(legal));
        }
        Object json = option.json(other);
        Object value = attribute.getType().equals("int") ? (Object) ((Number) json).intValue() : json;
        SERVER.setAttribute(bean(option), new Attribute(attribute.getName(), value));
        assertEquals(option.print(other), VolumeFile.read(volumeFile()).values().text(option), option::toString);
        if (control != null) {
            T back = wanted.get(option);
            control.answer(Map.of("action", "set", "changes", Map.of(option.key(), option.json(back))));
            assertEquals(
                    option.print(back), VolumeFile.read(volumeFile()).values().text(option), option::toString);
        }
    }

    private static @Nullable String bound(Optional<?> value) {
        return value.orElse(null) instanceof Number number ? Long.toString(number.longValue()) : null;
    }

    private SarAdministration administration(VolumeDefinition definition) {
        return new SarAdministration(
                "options",
                new FakeSar(definition.sar().ssdLocation(), definition.sar().hot()),
                definition.sar(),
                changed -> VolumeFile.write(
                        volumeFile(), VolumeFile.read(volumeFile()).withSar(changed)),
                location -> {});
    }

    private GarbageCollections collections(VolumeDefinition definition) {
        var recompress = new RecompressSetting(
                definition.recompress(),
                definition.config().compression(),
                level -> VolumeFile.write(
                        volumeFile(), VolumeFile.read(volumeFile()).with(VolumeOptions.RECOMPRESS, level)));
        return new GarbageCollections("options", new FakeCollector(), null, recompress, () -> {}, Clock.systemUTC());
    }

    private static @Nullable MBeanAttributeInfo attribute(VolumeOption<?> option) throws Exception {
        ObjectName bean = bean(option);
        return bean == null
                ? null
                : Stream.of(SERVER.getMBeanInfo(bean).getAttributes())
                        .filter(attribute -> isOf(option, attribute))
                        .findFirst()
                        .orElseThrow();
    }

    private static @Nullable ObjectName bean(VolumeOption<?> option) throws Exception {
        for (ObjectName name : SERVER.queryNames(new ObjectName("org.opendedup.sar:volume=options,*"), null)) {
            // The SSD's beans have its capacity, and none of them that of the volume.
            boolean isPart = name.getKeyProperty("type").equals("GarbageCollector")
                    == option.part().isEmpty();
            if (isPart
                    && Stream.of(SERVER.getMBeanInfo(name).getAttributes())
                            .anyMatch(attribute -> isOf(option, attribute))) {
                return name;
            }
        }
        return null;
    }

    private static boolean isOf(VolumeOption<?> option, MBeanAttributeInfo attribute) {
        return attribute.isWritable() && attribute.getName().equals(capitalized(option.key()));
    }

    private static String capitalized(String key) {
        return key.isEmpty() ? "" : key.substring(0, 1).toUpperCase(Locale.ROOT) + key.substring(1);
    }

    private void make() {
        List<String> arguments = new ArrayList<>();
        for (VolumeOption<?> option : VolumeOptions.ALL) {
            if (option.name().isEmpty() || OF_STORE.contains(option)) {
                continue;
            } else if (option == VolumeOptions.BACKUP_VOLUME || option == VolumeOptions.ENCRYPTED) {
                arguments.add(option.name());
            } else if (option == VolumeOptions.COMPRESSION) {
                arguments.add(option.name() + "=lz4");
            } else if (option == VolumeOptions.TIER_SHARE) {
                arguments.add(option.name() + "=60");
            } else if (option != VolumeOptions.TIER_UNPROTECTED) {
                arguments.add(option.name() + "=" + wanted.text(option));
            }
        }
        output.set("SDFS_PASSPHRASE", "secret");
        var command = new MkfsCommand(output.environment(), config -> {
            Files.createDirectories(config.locations().data());
            Files.createDirectories(config.locations().metadata());
        });
        int code = CommandRunner.run(command, output.environment(), arguments.toArray(String[]::new));
        assertEquals(ExitCode.OK, code, output.err());
    }

    private int sdfscli(String... arguments) {
        String[] all = Stream.concat(Stream.of(wanted.get(VolumeOptions.NAME)), Stream.of(arguments))
                .toArray(String[]::new);
        return CommandRunner.run(new SdfsCli(output.environment()), output.environment(), all);
    }

    private Path volumeFile() {
        return folder.resolve("etc/" + wanted.get(VolumeOptions.NAME) + "-volume-cfg.xml");
    }

    /** The tables are where the markers are. To renew one, copy what the failure shows. */
    @Test
    void theTablesOfTheDocumentationAreThoseOfTheProgram() throws IOException {
        assertEquals(List.of(table()), documented("options"));
        assertEquals(List.of(tableOfPlugin()), documented("settings"));
    }

    private static List<String> documented(String name) throws IOException {
        String begin = "<!-- " + name + ": begin -->\n";
        String end = "<!-- " + name + ": end -->";
        List<String> found = new ArrayList<>();
        try (Stream<Path> pages = Files.list(Commands.projectFolder().resolve("docs"))) {
            for (Path page :
                    pages.filter(each -> each.toString().endsWith(".md")).toList()) {
                String text = Files.readString(page);
                int from = text.indexOf(begin);
                if (from >= 0) {
                    found.add(text.substring(from + begin.length(), text.indexOf(end, from)));
                }
            }
        }
        return found;
    }

    private static String tableOfPlugin() {
        var table = new StringBuilder("| attribute | default | allowed | |\n|---|---|---|---|\n");
        for (VolumeOption<?> option : PluginOptions.ALL) {
            String choices = option.choices().isEmpty() ? option.label() : String.join(", ", option.choices());
            String allowed = option.range().isEmpty() ? choices : option.range();
            table.append(String.join(
                            " | ",
                            "| `" + option.ofPlugin() + "`",
                            option.defaultOfPlugin().replace("<", "`<").replace(">", ">`"),
                            allowed.replace("|", "\\|"),
                            option.text()))
                    .append(" |\n");
        }
        return table.toString();
    }

    private static String table() {
        var table = new StringBuilder("| option | default | allowed | changed while mounted |\n|---|---|---|---|\n");
        for (VolumeOption<?> option : VolumeOptions.ALL) {
            if (!option.name().isEmpty()) {
                String value = option.label().isEmpty() ? "" : "=" + option.label();
                String allowed = option.range().isEmpty() ? String.join(", ", option.choices()) : option.range();
                table.append(String.join(
                                " | ",
                                "| `" + option.name() + value.replace("|", "\\|") + "`",
                                defaultCell(option),
                                option.label().isEmpty() ? "" : allowed,
                                changedCell(option)))
                        .append(" |\n");
            }
        }
        return table.toString();
    }

    private static String changedCell(VolumeOption<?> option) {
        String command = option.changedBy();
        return command.isEmpty() ? "" : "`" + command + "`" + (option.isOfNextMount() ? ", next mount" : "");
    }

    private static String defaultCell(VolumeOption<?> option) {
        String words = option.defaultText();
        return words.equals(OptionValues.NONE.text(option)) ? "`" + words + "`" : words;
    }
}
