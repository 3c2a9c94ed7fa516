package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.AtomicFile;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.OptionSpecs;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.config.HostArchives;
import org.opendedup.sar.sdfs.config.PluginOptions;
import org.opendedup.sar.sdfs.config.PluginStore;
import org.opendedup.sar.sdfs.config.PluginSwitch;
import org.opendedup.sar.sdfs.config.PluginVolumeFile;
import org.opendedup.sar.sdfs.config.VolumeOption;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** {@code sar-plugin}: makes the plugin store the chunks of a volume of OpenDedup SDFS, and undoes that. */
@Command(
        name = "sar-plugin",
        scope = ScopeType.INHERIT,
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        sortOptions = false,
        customSynopsis = {
            "sar-plugin enable VOLUME.xml [--ssd=FOLDER --ssd-capacity=SIZE] [OPTION...]",
            "       sar-plugin disable VOLUME.xml"
        },
        description = {
            "Makes SAR store the chunks of a volume of OpenDedup SDFS 3.12 (docs/PLUGIN.md), and undoes that.",
            "",
            "VOLUME.xml is SDFS's volume file, or the name of a volume that has one in the folder of volume files.",
            "The volume must be new, and must not be mounted."
        },
        subcommands = {PluginCommand.Enable.class, PluginCommand.Disable.class},
        footer = {
            "Environment: SDFS_CONFIG_DIR  folder of the volume files (default /etc/sdfs)",
            "Exit codes:  0 done, 1 failed, 64 wrong usage",
            "",
            "Example:",
            "  /sbin/mkfs.sdfs --volume-name=pool0 --volume-capacity=1TB",
            "  sar-plugin enable pool0 --ssd=/ssd/pool0 --ssd-capacity=50GB",
            "  /sbin/mount.sdfs pool0 /mnt/pool0"
        })
public final class PluginCommand implements Callable<Integer> {
    /** Names the plugin's jar, for those who run the class without the script. */
    private static final String JAR = "SDFS_PLUGIN_JAR";

    /** Name of the jar in SDFS's folder of libraries; others of the plugin there give way to it. */
    private static final String INSTALLED = "sdfs-plugin.jar";

    private static final String OTHERS = "sdfs-plugin*.jar";

    /** The class that a mounted SDFS runs. */
    private static final String HOST_PROGRAM = "MountSDFS";

    /** Least release of Java that runs the plugin. */
    private static final int LEAST_JAVA = 17;

    private static final Pattern JAVA_VERSION = Pattern.compile("JAVA_VERSION=\"(\\d+)");

    private final Environment environment;

    @Spec
    @Nullable
    CommandSpec spec;

    @Option(
            names = "--sdfs",
            scope = ScopeType.INHERIT,
            paramLabel = "FOLDER",
            defaultValue = "/usr/share/sdfs",
            description = "Where OpenDedup SDFS is installed; its libraries are in lib. Default: /usr/share/sdfs.")
    Path sdfs = Path.of("/usr/share/sdfs");

    public PluginCommand(Environment environment) {
        this.environment = environment;
    }

    public static void main(String[] arguments) {
        Environment environment = Environment.ofProcess();
        System.exit(CommandRunner.run(new PluginCommand(environment), environment, arguments));
    }

    @Override
    public Integer call() {
        throw new ParameterException(
                Objects.requireNonNull(spec).commandLine(), "say what to do: sar-plugin enable VOLUME.xml, or disable");
    }

    /** A change of one volume file. */
    abstract static class Change implements Callable<Integer> {
        @Spec
        @Nullable
        CommandSpec spec;

        @ParentCommand
        @Nullable
        PluginCommand parent;

        @Parameters(
                paramLabel = "VOLUME.xml",
                description = "SDFS's volume file, such as /etc/sdfs/pool0-volume-cfg.xml, or the volume's name.")
        String volume = "";

        final PluginCommand program() {
            return Objects.requireNonNull(parent);
        }

        @Override
        public Integer call() throws IOException, CommandFailedException {
            Path file = program().file(volume);
            try {
                PluginSwitch before = new PluginSwitch(Files.readString(file));
                program().requireUnmounted(file, before);
                change(file, before);
            } catch (NoSuchFileException e) {
                throw new CommandFailedException("there is no " + e.getFile());
            } catch (CharacterCodingException e) {
                throw new CommandFailedException(file + " is no text in UTF-8; SDFS writes UTF-8");
            }
            return ExitCode.OK;
        }

        abstract void change(Path file, PluginSwitch before) throws IOException, CommandFailedException;

        /** Returns the first folder where SAR has something of a volume; null if there is none. */
        static @Nullable Path used(Optional<PluginStore> store) throws IOException {
            // All of them: the disk of the containers may not be mounted.
            List<Path> used = store.isEmpty()
                    ? List.of()
                    : PluginVolumeFile.usedFolders(store.get().locations());
            return used.isEmpty() ? null : used.get(0);
        }
    }

    /** {@code sar-plugin enable}. */
    @Command(
            name = "enable",
            sortOptions = false,
            modelTransformer = OptionSpecs.class,
            customSynopsis = "sar-plugin enable VOLUME.xml [OPTION...]",
            description = {
                "Makes SAR store the chunks of a volume from its next mount on.",
                "",
                "Copies the plugin's jar beside SDFS's own, and writes class names and settings into the volume file,",
                "of which all else stays as it is. All settings are checked before anything is changed. Called again,",
                "it changes the settings that are named, and leaves the others. Each option is also an attribute of",
                "<extended-config>, with sar- in place of the dashes."
            },
            footer = {
                "",
                "A volume with chunks of SDFS's own store is refused: they could not be read.",
                "",
                "Example:",
                "  sar-plugin enable /etc/sdfs/pool0-volume-cfg.xml --ssd=/ssd/pool0 --ssd-capacity=50GB"
            })
    static final class Enable extends Change {
        @Override
        void change(Path file, PluginSwitch before) throws IOException, CommandFailedException {
            Map<String, String> settings = OptionSpecs.ofPlugin(Objects.requireNonNull(spec));
            String changed = before.enabled(settings);
            if (!before.isEnabled() && HostArchives.areIn(before.hostChunks())) {
                throw new CommandFailedException("the volume has chunks of SDFS's own store in " + before.hostChunks()
                        + ", which SAR does not read. Make another volume, enable the plugin for it, mount both, and"
                        + " copy the files. Nothing was changed");
            }
            Optional<PluginStore> store = PluginVolumeFile.store(file);
            boolean isToBeEncrypted = settings.containsKey(VolumeOptions.ENCRYPTED.ofPlugin());
            if (isToBeEncrypted && !store.map(PluginStore::isEncrypted).orElse(true) && used(store) != null) {
                throw new CommandFailedException("SAR has chunks of the volume in " + used(store) + " that are not"
                        + " encrypted, and a volume cannot be encrypted later. Make another volume, enable the plugin"
                        + " for it with --encrypt, mount both, and copy the files. Nothing was changed");
            }
            // First: a volume file that names missing classes would end SDFS's mount.
            String jar = program().installJar();
            program().write(file, changed);
            var out = program().environment.out();
            out.println("SAR stores the chunks of the volume in " + file + " from its next mount on.");
            out.println("  jar       " + jar);
            settings.forEach((name, value) -> out.println("  setting   " + name + "=\"" + value + "\""));
            program().noteOldJava();
            program().noteMissingSecret(settings);
            if (isToBeEncrypted) {
                out.println("After the first mount, keep the master key in a safe: sdfscli " + before.volume()
                        + " key export FILE");
            }
            out.println("To undo: sar-plugin disable " + volume);
        }
    }

    /** {@code sar-plugin disable}. */
    @Command(
            name = "disable",
            customSynopsis = "sar-plugin disable VOLUME.xml",
            description = {
                "Makes SDFS store the chunks of a volume itself again, and removes the settings of the plugin.",
                "",
                "Refused if SAR has chunks of the volume: SDFS could not read them. Copy the files to another volume,",
                "and delete this one. The jar is removed when no volume file in its folder, nor in that of "
                        + "volume files, names it."
            },
            footer = {"", "Example:", "  sar-plugin disable pool0"})
    static final class Disable extends Change {
        @Override
        void change(Path file, PluginSwitch before) throws IOException, CommandFailedException {
            Path used = used(PluginVolumeFile.store(file));
            if (used != null) {
                throw new CommandFailedException("SAR has chunks of the volume in " + used
                        + ", which SDFS cannot read. Mount this volume and another one, copy"
                        + " the files, and delete this volume with SDFS's commands. Nothing was changed");
            }
            program().write(file, before.disabled());
            program().environment.out().println("SDFS stores the chunks of the volume in " + file + " itself.");
            program().removeJarIfUnused(file);
        }
    }

    private Path file(String volume) {
        Path named = Path.of(volume);
        return Files.isRegularFile(named) || volume.contains("/") || volume.endsWith(".xml")
                ? named.toAbsolutePath()
                : environment
                        .configDirectory()
                        .fileOf(OptionSpecs.volumeName(
                                volume,
                                message -> new ParameterException(
                                        Objects.requireNonNull(spec).commandLine(), message)));
    }

    /** SDFS writes the file again when it unmounts, which would undo the change. */
    private void requireUnmounted(Path file, PluginSwitch before) throws IOException, CommandFailedException {
        for (List<String> command : hosts()) {
            if (command.stream().anyMatch(word -> names(word, file, before.volume()))) {
                throw new CommandFailedException("the volume is mounted: unmount it first; SDFS writes " + file
                        + " at the unmount. Nothing was changed");
            }
        }
    }

    /** Returns whether a word of a command is the volume's name, an option with it, or its file. */
    private static boolean names(String word, Path file, @Nullable String name) {
        return word.endsWith(String.valueOf(file.getFileName()))
                || name != null && (word.equals(name) || word.endsWith("=" + name));
    }

    /** Returns the command lines of all processes of SDFS that have a volume mounted. */
    private static List<List<String>> hosts() throws IOException {
        List<List<String>> found = new ArrayList<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
            for (Path process : processes) {
                List<String> command = commandOf(process);
                if (command.stream().anyMatch(word -> word.endsWith(HOST_PROGRAM))) {
                    found.add(command);
                }
            }
        }
        return found;
    }

    private static List<String> commandOf(Path process) {
        try {
            // A word may be no text, such as the path of a mount point.
            return Arrays.asList(
                    new String(Files.readAllBytes(process.resolve("cmdline")), StandardCharsets.UTF_8).split("\0"));
        } catch (IOException e) {
            return List.of(); // It has ended.
        }
    }

    /** Writes the file, or that to which it is a link, with the owner and the permissions that it has. */
    private void write(Path file, String text) throws IOException {
        if (text.equals(Files.readString(file))) {
            return;
        }
        AtomicFile.replace(file.toRealPath(), text.getBytes(StandardCharsets.UTF_8));
    }

    private Path libraries() throws CommandFailedException {
        Path libraries = sdfs.resolve("lib");
        if (!Files.isDirectory(libraries)) {
            throw new CommandFailedException("OpenDedup SDFS is not installed in " + sdfs + ", which has no folder lib;"
                    + " --sdfs=FOLDER names another place. Nothing was changed");
        }
        return libraries;
    }

    /** Copies the jar, unless it is there; returns what was done, in words. */
    private String installJar() throws IOException, CommandFailedException {
        Path target = libraries().resolve(INSTALLED);
        String named = environment.variables().getOrDefault(JAR, "");
        if (named.isEmpty() || !Files.isRegularFile(Path.of(named))) {
            throw new CommandFailedException("the plugin's jar is not there" + (named.isEmpty() ? "" : ": " + named)
                    + "; build it: scripts/build. Nothing was changed");
        }
        Path jar = Path.of(named).toRealPath();
        List<Path> others = others(target);
        if (others.isEmpty() && Files.exists(target) && Files.mismatch(jar, target) < 0) {
            return target + ", as before";
        }
        if (!hosts().isEmpty()) {
            // It loads classes from the jar until it ends.
            throw new CommandFailedException("a volume of SDFS is mounted, and another version of the plugin would be"
                    + " installed under it: unmount all volumes of SDFS first. Nothing was changed");
        }
        Path copy = libraries().resolve(INSTALLED + ".new");
        Files.copy(jar, copy, StandardCopyOption.REPLACE_EXISTING);
        Files.setLastModifiedTime(
                copy, FileTime.from(Files.getLastModifiedTime(jar).toInstant()));
        AtomicFile.move(copy, target);
        for (Path other : others) {
            Files.delete(other);
        }
        return target + ", copied from " + jar;
    }

    private List<Path> others(Path target) throws IOException, CommandFailedException {
        List<Path> others = new ArrayList<>();
        try (DirectoryStream<Path> jars = Files.newDirectoryStream(libraries(), OTHERS)) {
            jars.forEach(others::add);
        }
        others.remove(target);
        return others;
    }

    private void removeJarIfUnused(Path file) throws IOException, CommandFailedException {
        Path folder = Objects.requireNonNull(file.getParent());
        Path jar = libraries().resolve(INSTALLED);
        if (hosts().isEmpty()
                && !isUsedIn(folder)
                && !isUsedIn(environment.configDirectory().folder())
                && Files.deleteIfExists(jar)) {
            environment.out().println("  removed " + jar + ": no other volume uses it");
        }
    }

    /** Returns whether a volume file in a folder names the plugin, or cannot be read. */
    private static boolean isUsedIn(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return false;
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.xml")) {
            for (Path other : files) {
                if (namesPlugin(other)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean namesPlugin(Path volumeFile) {
        try {
            return PluginVolumeFile.store(volumeFile).isPresent();
        } catch (IOException e) {
            return true;
        }
    }

    /** A mount without its passphrase would end SDFS. */
    private void noteMissingSecret(Map<String, String> settings) {
        for (VolumeOption<?> source : List.of(PluginOptions.PASSPHRASE_FILE, PluginOptions.KEY_FILE)) {
            String file = settings.get(source.ofPlugin());
            if (file != null && Files.notExists(Path.of(file))) {
                environment.err().println("sar-plugin: note: there is no " + file + " yet, and SDFS's mount needs it");
            }
        }
    }

    /** SDFS's package brings a release of Java that cannot run the plugin. */
    private void noteOldJava() throws IOException {
        Path jre = sdfs.resolve("bin/jre");
        Path release = jre.resolve("release");
        if (!Files.isRegularFile(release)) {
            return;
        }
        Matcher version = JAVA_VERSION.matcher(Files.readString(release));
        if (version.find() && Integer.parseInt(version.group(1)) < LEAST_JAVA) {
            environment
                    .err()
                    .println("sar-plugin: note: " + jre + " is of release " + version.group(1)
                            + ", and the plugin needs " + LEAST_JAVA
                            + ": make it a link to such a JDK, as docs/PLUGIN.md says");
        }
    }
}
