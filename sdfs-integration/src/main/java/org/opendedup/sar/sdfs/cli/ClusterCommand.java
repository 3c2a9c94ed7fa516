package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.cluster.ArchiveWriter;
import org.opendedup.sar.cluster.Cluster;
import org.opendedup.sar.cluster.ClusterCare;
import org.opendedup.sar.cluster.Membership;
import org.opendedup.sar.cluster.Membership.Member;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.io.StandardOutput;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.OnInterrupt;
import org.opendedup.sar.sdfs.cli.command.ProgressLine;
import org.opendedup.sar.sdfs.cli.mounts.MountPlaces;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cluster.ClusterFolders;
import org.opendedup.sar.sdfs.cluster.TreeRestorer;
import org.opendedup.sar.sdfs.cluster.TreeSaver;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code sdfscli cluster}: archives of files over several volumes. */
@Command(
        name = "cluster",
        customSynopsis = {
            "sdfscli cluster create|attach CLUSTER --volume=FOLDER...",
            "       sdfscli cluster put CLUSTER ARCHIVE PATH|-",
            "       sdfscli cluster get CLUSTER ARCHIVE TARGET|- [--only=PATH]",
            "       sdfscli cluster ls CLUSTER [ARCHIVE]",
            "       sdfscli cluster rm CLUSTER ARCHIVE",
            "       sdfscli cluster add|remove CLUSTER --volume=FOLDER",
            "       sdfscli cluster balance|gc|check|status CLUSTER"
        },
        description = {
            "Keeps archives of files on several volumes, so that together they have the space of all.",
            "",
            "A volume is named by the folder where it is mounted, on this machine or by NFS, SSHFS "
                    + "or the like. What is",
            "put is divided into blocks by its content; similar blocks go to the same volume, which deduplicates them.",
            "Nothing is stored twice: a block is lost with its volume. Add volumes to get more space."
        },
        footer = {
            "Example:",
            "  sdfscli cluster create home --volume=/mnt/a --volume=/net/b/pool --volume=/net/c/pool",
            "  sdfscli cluster put home monday /home",
            "  sdfscli cluster get home monday /tmp/alice --only=alice",
            "  sdfscli cluster add home --volume=/net/d/pool        # moves a quarter of the blocks to it",
            "",
            "docs/operations/cluster.md says more."
        })
final class ClusterCommand extends VolumeCommand {
    private static final String CLUSTER = "Name of the cluster.";
    private static final String ARCHIVE = "Name of the archive: letters, digits and - _ . =";
    private static final String FOLDER = "Folder where a volume is mounted.";

    @Override
    public Integer call() {
        throw usage("name a command, such as sdfscli cluster status CLUSTER");
    }

    @Command(
            customSynopsis = "sdfscli cluster create CLUSTER --volume=FOLDER...",
            description = {
                "Makes a cluster of volumes that are mounted.",
                "",
                "Each volume gets a folder CLUSTER.cluster, and parts of the shards by its "
                        + "capacity. This machine keeps",
                "the folders in CLUSTER-cluster.conf beside the volume files."
            },
            footer = "Example:  sdfscli cluster create home --volume=/mnt/a --volume=/net/b/pool --volume=/net/c/pool")
    int create(
            @Parameters(paramLabel = "CLUSTER", description = CLUSTER) String cluster,
            @Option(names = "--volume", required = true, paramLabel = "FOLDER", description = FOLDER)
                    List<Path> volumes)
            throws IOException, CommandFailedException {
        ClusterFolders known = newFolders(cluster);
        List<Path> folders = real(volumes);
        Cluster.create(cluster, folders);
        known.write(folders);
        print(
                Map.of("cluster", cluster, "volumes", folders.size()),
                "Made cluster " + cluster + " of " + folders.size() + " volumes.");
        return ExitCode.OK;
    }

    @Command(
            customSynopsis = "sdfscli cluster attach CLUSTER --volume=FOLDER...",
            description = {
                "Tells this machine by which folders it reaches the volumes of a cluster that exists.",
                "",
                "Name all of them: what it was told before is replaced."
            },
            footer = "Example:  sdfscli cluster attach home --volume=/net/a/pool --volume=/mnt/b --volume=/net/c/pool")
    int attach(
            @Parameters(paramLabel = "CLUSTER", description = CLUSTER) String cluster,
            @Option(names = "--volume", required = true, paramLabel = "FOLDER", description = FOLDER)
                    List<Path> volumes)
            throws IOException, CommandFailedException {
        requireName(cluster);
        ClusterFolders known = folders(cluster);
        List<Path> folders = real(volumes);
        try (Cluster opened = Cluster.open(cluster, folders)) {
            if (!opened.absentFolders().isEmpty()) {
                throw new CommandFailedException(
                        "nothing of " + cluster + " is in " + String.join("; ", opened.absentFolders()));
            }
            if (known.exist()) {
                requireSame(known, opened.membership());
            }
            known.write(folders);
            int all = opened.membership().members().size();
            print(
                    Map.of("cluster", cluster, "volumes", all, "attached", folders.size()),
                    "Attached cluster " + cluster + ": " + folders.size() + " of " + all + " volumes.");
        }
        return ExitCode.OK;
    }

    private static void requireSame(ClusterFolders known, Membership attached)
            throws IOException, CommandFailedException {
        try (Cluster before = Cluster.open(attached.name(), known.read())) {
            if (!before.membership().id().equals(attached.id())) {
                throw new CommandFailedException("this machine knows another cluster " + attached.name() + "; "
                        + known.file() + " has its folders");
            }
        }
    }

    private void requireName(String cluster) {
        if (!Cluster.isName(cluster)) {
            throw usage("a cluster's name has letters, digits, - and _ , at most 64: " + cluster);
        }
    }

    private ClusterFolders newFolders(String cluster) throws CommandFailedException {
        requireName(cluster);
        ClusterFolders known = folders(cluster);
        if (known.exist()) {
            throw new CommandFailedException(
                    "this machine knows a cluster " + cluster + "; " + known.file() + " has its folders");
        }
        return known;
    }

    private ClusterFolders folders(String cluster) {
        return ClusterFolders.of(cli().environment().configDirectory().folder(), cluster);
    }

    private static List<Path> real(List<Path> folders) throws IOException, CommandFailedException {
        List<Path> real = new ArrayList<>();
        for (Path folder : folders) {
            real.add(mounted(folder));
        }
        return real;
    }

    private static Path mounted(Path folder) throws IOException, CommandFailedException {
        Path real = folder.toRealPath();
        MountPlaces.requireVolume(real);
        return real;
    }

    @Command(
            customSynopsis = "sdfscli cluster put CLUSTER ARCHIVE PATH|-",
            description = {
                "Puts a file, or a folder with its contents, into a new archive.",
                "",
                "Keeps names, bytes, links, modes, owners and times; not access lists, extended attributes and which",
                "names are one file. '-' takes the standard input as one file, for example from tar, which keeps them."
            },
            footer = {
                "The archive appears when it is complete and durable. Ctrl-C, a crash or a volume that ends leaves",
                "nothing of it to be seen; the same command sends what is missing. While a volume is away, its blocks",
                "go to the next one; 'cluster balance' moves them back.",
                "",
                "Exit codes:  0 all of it   1 failed   6 without what could not be read, which is told",
                "",
                "Examples:",
                "  sdfscli cluster put home 2026-11-30 /home",
                "  tar -c --xattrs --acls -C / home | sdfscli cluster put home tar-2026-11-30 -"
            })
    int put(
            @Parameters(index = "0", paramLabel = "CLUSTER", description = CLUSTER) String cluster,
            @Parameters(index = "1", paramLabel = "ARCHIVE", description = ARCHIVE) String archive,
            @Parameters(index = "2", paramLabel = "PATH", description = "File or folder; - for the standard input.")
                    Path path)
            throws IOException, CommandFailedException {
        return with(cluster, (opened, progress) -> {
            long began = System.nanoTime();
            List<String> leftOut;
            ArchiveWriter.Report stored;
            try (ArchiveWriter writer = opened.write(archive)) {
                TreeSaver saver = new TreeSaver(writer, progress);
                if (path.toString().equals("-")) {
                    saver.save(System.in, Instant.now().getEpochSecond());
                } else {
                    saver.save(path);
                }
                stored = writer.finish();
                leftOut = saver.leftOut();
            } catch (IllegalArgumentException e) {
                throw usage(String.valueOf(e.getMessage()));
            }
            var report = report(archive, leftOut);
            report.putAll(Json.values(stored));
            tell("left out", leftOut);
            double seconds = (System.nanoTime() - began) / 1e9;
            print(
                    report,
                    String.format(
                            Locale.ROOT,
                            "Archive %s has %d files, %s, of which %s were in no block, in %.1f s (%s/s).",
                            archive,
                            stored.files(),
                            ByteSize.rounded(stored.bytes()),
                            ByteSize.rounded(stored.newBytes()),
                            seconds,
                            ByteSize.rounded((long) (stored.bytes() / Math.max(0.001, seconds)))));
            return leftOut.isEmpty() ? ExitCode.OK : ExitCode.INCOMPLETE;
        });
    }

    @Command(
            customSynopsis = "sdfscli cluster get CLUSTER ARCHIVE TARGET|- [--only=PATH]",
            description = "Makes the files of an archive again. All bytes are compared with their hashes.",
            footer = {
                "A file with a block on a volume that is away is not made; all others are. Ctrl-C leaves what was made",
                "until then, the last file in part: remove it, and begin again.",
                "",
                "Exit codes:  0 all of it   1 failed, or some files were not made   6 without some owners",
                "",
                "Examples:",
                "  sdfscli cluster get home 2026-11-30 /tmp/all",
                "  sdfscli cluster get home 2026-11-30 /tmp/alice --only=alice",
                "  sdfscli cluster get home tar-2026-11-30 - | tar -x --xattrs --acls -C /tmp/all"
            })
    int get(
            @Parameters(index = "0", paramLabel = "CLUSTER", description = CLUSTER) String cluster,
            @Parameters(index = "1", paramLabel = "ARCHIVE", description = ARCHIVE) String archive,
            @Parameters(
                            index = "2",
                            paramLabel = "TARGET",
                            description = "A path where nothing is, or an empty folder; - for the standard output.")
                    Path target,
            @Option(
                            names = "--only",
                            paramLabel = "PATH",
                            description = "Only this file or folder: a path as 'cluster ls' shows it.")
                    @Nullable
                    Path only)
            throws IOException, CommandFailedException {
        return with(cluster, (opened, progress) -> {
            TreeRestorer restorer = new TreeRestorer(opened.archive(archive), progress);
            String from = only == null ? "" : only.normalize().toString();
            if (target.toString().equals("-")) {
                try (OutputStream out = StandardOutput.stream()) {
                    restorer.copy(from, out);
                }
                return ExitCode.OK;
            }
            try (var unused = new OnInterrupt("cluster-get", () -> sayIncomplete(target))) {
                restorer.restore(from, target);
            }
            tell("not made", restorer.notMade());
            tell("without its owner", restorer.notKept());
            var report = report(archive, restorer.notMade());
            report.put("files", restorer.files());
            report.put("bytes", restorer.bytes());
            print(
                    report,
                    "Made " + restorer.files() + " files of " + archive + ", " + ByteSize.rounded(restorer.bytes())
                            + (restorer.notMade().isEmpty()
                                    ? "."
                                    : "; " + restorer.notMade().size() + " were not made."));
            return !restorer.notMade().isEmpty()
                    ? ExitCode.FAILED
                    : restorer.notKept().isEmpty() ? ExitCode.OK : ExitCode.INCOMPLETE;
        });
    }

    /** The file that was being made looks like a whole one, but for its length. */
    private void sayIncomplete(Path target) {
        cli().environment()
                .err()
                .println("sdfscli: interrupted; what is in " + Printable.line(target.toString())
                        + " is not complete: remove it, and give the same command again");
        cli().environment().err().flush();
    }

    private static Map<String, Object> report(String archive, List<String> missing) {
        var report = new LinkedHashMap<String, Object>();
        report.put("archive", archive);
        report.put("missing", missing);
        return report;
    }

    private void tell(String what, List<String> lines) {
        lines.forEach(line -> cli().environment().err().println(what + ": " + Printable.line(line)));
    }

    @Command(
            customSynopsis = "sdfscli cluster ls CLUSTER [ARCHIVE] [--json]",
            description = "Lists the archives of a cluster, or what an archive has.",
            footer = {
                "Exit codes:  0 listed   1 failed   2 the lists of an archive are damaged, which is told",
                "",
                "Example:  sdfscli cluster ls home 2026-11-30"
            })
    int ls(
            @Parameters(index = "0", paramLabel = "CLUSTER", description = CLUSTER) String cluster,
            @Parameters(index = "1", arity = "0..1", paramLabel = "ARCHIVE", description = ARCHIVE) @Nullable
                    String archive)
            throws IOException, CommandFailedException {
        return with(cluster, (opened, progress) -> {
            List<Map<String, Object>> rows = new ArrayList<>();
            List<String> damaged = new ArrayList<>();
            if (archive != null) {
                opened.archive(archive).forEach(entry -> {
                    if (cli().json) {
                        rows.add(Map.of(
                                "path", entry.path(),
                                "kind", Json.word(entry.kind()),
                                "bytes", entry.bytes(),
                                "mode", Integer.toOctalString(entry.mode()),
                                "uid", entry.uid(),
                                "gid", entry.gid(),
                                "modified",
                                        Instant.ofEpochSecond(entry.seconds(), entry.nanos())
                                                .toString(),
                                "target", entry.target()));
                    } else {
                        print(String.format(
                                Locale.ROOT,
                                "%-6s %5o %12d  %s",
                                Json.word(entry.kind()),
                                entry.mode(),
                                entry.bytes(),
                                Printable.line(entry.path().isEmpty() ? "." : entry.path())));
                    }
                });
            } else {
                for (Cluster.Listed one : opened.list()) {
                    if (!one.damage().isEmpty()) {
                        damaged.add(one.archive() + ": no list of it can be read: " + one.damage());
                        continue;
                    }
                    rows.add(Map.of(
                            "archive", one.archive(),
                            "made", one.made().toString(),
                            "files", one.files(),
                            "bytes", one.bytes()));
                    if (!cli().json) {
                        print(String.format(
                                Locale.ROOT,
                                "%-32s %s %8d files %10s",
                                one.archive(),
                                one.made().toString().substring(0, 19),
                                one.files(),
                                ByteSize.rounded(one.bytes())));
                    }
                }
            }
            if (cli().json) {
                print(Json.pretty(Map.of(archive == null ? "archives" : "entries", rows)));
            }
            tell("damaged", damaged);
            return damaged.isEmpty() ? ExitCode.OK : ExitCode.DAMAGED;
        });
    }

    @Command(
            customSynopsis = "sdfscli cluster rm CLUSTER ARCHIVE",
            description = "Deletes an archive. 'cluster gc' then returns the space of blocks that no other has.",
            footer = "Example:  sdfscli cluster rm home 2026-11-01")
    int rm(
            @Parameters(index = "0", paramLabel = "CLUSTER", description = CLUSTER) String cluster,
            @Parameters(index = "1", paramLabel = "ARCHIVE", description = ARCHIVE) String archive)
            throws IOException, CommandFailedException {
        return with(cluster, (opened, progress) -> {
            opened.delete(archive);
            print(
                    Map.of("archive", archive),
                    "Deleted archive " + archive + ". 'sdfscli cluster gc " + cluster + "' returns its space.");
            return ExitCode.OK;
        });
    }

    @Command(
            customSynopsis = "sdfscli cluster add CLUSTER --volume=FOLDER",
            description = "Adds a volume, and moves its blocks to it: of N volumes of the same size one part in N + 1.",
            footer = {
                "Ctrl-C ends the moves; 'cluster balance' goes on. Other machines learn of the volume at once, and of",
                "its folder by 'cluster attach'.",
                "",
                "Example:  sdfscli cluster add home --volume=/net/d/pool"
            })
    int add(
            @Parameters(paramLabel = "CLUSTER", description = CLUSTER) String cluster,
            @Option(names = "--volume", required = true, paramLabel = "FOLDER", description = FOLDER) Path volume)
            throws IOException, CommandFailedException {
        Path folder = mounted(volume);
        ClusterFolders known = folders(cluster);
        return with(cluster, (opened, progress) -> {
            opened.add(folder);
            List<Path> folders = new ArrayList<>(known.read());
            folders.add(folder);
            known.write(folders);
            return balance(opened, progress);
        });
    }

    @Command(
            customSynopsis = "sdfscli cluster remove CLUSTER --volume=FOLDER [--lost]",
            description = "Moves the blocks of a volume to the others, and removes it from the cluster.",
            footer = {
                "Ctrl-C ends the moves; the same command goes on.",
                "",
                "Example:  sdfscli cluster remove home --volume=/net/b/pool"
            })
    int remove(
            @Parameters(paramLabel = "CLUSTER", description = CLUSTER) String cluster,
            @Option(names = "--volume", required = true, paramLabel = "FOLDER", description = FOLDER) Path volume,
            @Option(
                            names = "--lost",
                            description = "The volume will not return: what only it has is gone. FOLDER is that by"
                                    + " which it was added. 'cluster check' names the archives that are incomplete.")
                    boolean lost)
            throws IOException, CommandFailedException {
        Path folder = lost ? volume.toAbsolutePath().normalize() : volume.toRealPath();
        ClusterFolders known = folders(cluster);
        return with(cluster, (opened, progress) -> {
            if (!lost) {
                opened.leave(folder);
                ClusterCare.Balance moved = new ClusterCare(opened, progress).balance();
                tell("moved", List.of(text(moved)));
            }
            opened.forget(folder, lost);
            List<Path> folders = new ArrayList<>(known.read());
            folders.remove(folder);
            known.write(folders);
            print(
                    Map.of("cluster", cluster, "removed", folder.toString()),
                    "Removed " + folder + " from cluster " + cluster + ".");
            return ExitCode.OK;
        });
    }

    @Command(
            customSynopsis = "sdfscli cluster balance CLUSTER [--json]",
            description = {
                "Moves each block to its volume: after a volume was away or added, or a move was stopped.",
                "",
                "Programs may put and get meanwhile. Ctrl-C ends it; what has moved stays."
            },
            footer = "Example:  sdfscli cluster balance home")
    int balance(@Parameters(paramLabel = "CLUSTER", description = CLUSTER) String cluster)
            throws IOException, CommandFailedException {
        return with(cluster, this::balance);
    }

    private int balance(Cluster cluster, Progress progress) throws IOException {
        ClusterCare.Balance done = new ClusterCare(cluster, progress).balance();
        print(Json.values(done), text(done));
        return done.damaged() == 0 ? ExitCode.OK : ExitCode.DAMAGED;
    }

    private static String text(ClusterCare.Balance done) {
        return String.format(
                Locale.ROOT,
                "Moved %d blocks, %s.%s%s",
                done.movedBlocks(),
                ByteSize.rounded(done.movedBytes()),
                done.waiting() == 0 ? "" : " " + done.waiting() + " wait for a volume that is away or full.",
                done.damaged() == 0 ? "" : " " + done.damaged() + " are damaged and stay where they are.");
    }

    @Command(
            customSynopsis = "sdfscli cluster gc CLUSTER [--ignore-unfinished] [--json]",
            description = {
                "Deletes the blocks that no archive has. The volumes' own collections then return the space.",
                "",
                "Needs all volumes. Waits for nobody: it refuses while an archive is put or blocks move."
            },
            footer = "Example:  sdfscli cluster rm home 2026-11-01 && sdfscli cluster gc home")
    int gc(
            @Parameters(paramLabel = "CLUSTER", description = CLUSTER) String cluster,
            @Option(
                            names = "--ignore-unfinished",
                            description = "Forget commands that noted their begin and not their end. Only if they were"
                                    + " killed: one that still runs would lose blocks.")
                    boolean ignoresUnfinished)
            throws IOException, CommandFailedException {
        return with(cluster, (opened, progress) -> {
            ClusterCare.Collection done = new ClusterCare(opened, progress).collect(ignoresUnfinished);
            print(
                    Json.values(done),
                    "Deleted " + done.deletedBlocks() + " blocks, " + ByteSize.rounded(done.deletedBytes()) + "; "
                            + done.keptBlocks() + " stay.");
            return ExitCode.OK;
        });
    }

    @Command(
            customSynopsis = "sdfscli cluster check CLUSTER [--json]",
            description = "Reads all blocks, compares them with their hashes, and names archives that lack some.",
            footer = {
                "Exit codes:  0 all is right   2 a block is damaged, or an archive incomplete",
                "",
                "Example:  sdfscli cluster check home"
            })
    int check(@Parameters(paramLabel = "CLUSTER", description = CLUSTER) String cluster)
            throws IOException, CommandFailedException {
        return with(cluster, (opened, progress) -> {
            ClusterCare.Check found = new ClusterCare(opened, progress).check();
            if (!cli().json) {
                tell("damaged", found.damaged());
                found.incomplete()
                        .forEach((archive, blocks) -> print("Archive " + archive + " lacks " + blocks + " blocks"
                                + (opened.away().isEmpty() ? "." : " while volumes are away.")));
            }
            print(
                    Json.values(found),
                    found.blocks() + " blocks, " + ByteSize.rounded(found.bytes()) + ", are right; "
                            + found.damaged().size() + " are damaged.");
            return found.damaged().isEmpty() && found.incomplete().isEmpty() ? ExitCode.OK : ExitCode.DAMAGED;
        });
    }

    @Command(
            customSynopsis = "sdfscli cluster status CLUSTER [--json]",
            description = "Shows the volumes, what each has, and which blocks have not moved yet.",
            footer = {
                "share      part of the shards, by the capacity when the volume was added",
                "bytes      length of the blocks, before deduplication and compression",
                "",
                "Exit codes:  0 all volumes are there   1 a volume is away",
                "",
                "Example:  sdfscli cluster status home"
            })
    int status(@Parameters(paramLabel = "CLUSTER", description = CLUSTER) String cluster)
            throws IOException, CommandFailedException {
        return with(cluster, (opened, progress) -> {
            List<ClusterCare.Volume> volumes = new ClusterCare(opened, progress).volumes();
            if (cli().json) {
                print(Json.pretty(Map.of(
                        "cluster",
                        cluster,
                        "volumes",
                        volumes.stream().map(Json::values).toList())));
            } else {
                print("state       share    blocks      bytes  misplaced  volume");
                volumes.forEach(volume -> print(String.format(
                        Locale.ROOT,
                        "%-9s %5.1f %% %9d %10s %10d  %s",
                        volume.state(),
                        100 * volume.share(),
                        volume.blocks(),
                        ByteSize.rounded(volume.bytes()),
                        volume.misplaced(),
                        Printable.line(volume.folder()))));
            }
            return opened.away().isEmpty() ? ExitCode.OK : ExitCode.FAILED;
        });
    }

    @FunctionalInterface
    private interface Work {
        int run(Cluster cluster, Progress progress) throws IOException, CommandFailedException;
    }

    /** Does something with a cluster; Ctrl-C in the middle leaves no note of it. */
    private int with(String name, Work work) throws IOException, CommandFailedException {
        ProgressLine line = new ProgressLine(cli().environment());
        try (Cluster cluster = Cluster.open(name, folders(name).read())) {
            List<Member> away = cluster.away();
            if (!away.isEmpty()) {
                tell("away", away.stream().map(Member::place).toList());
            }
            try (var unused = new OnInterrupt("end of cluster", cluster::withdraw)) {
                return work.run(cluster, line::at);
            } finally {
                line.clear();
            }
        }
    }
}
