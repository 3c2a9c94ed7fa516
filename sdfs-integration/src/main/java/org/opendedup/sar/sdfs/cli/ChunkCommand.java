package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.control.ChunkControl;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.jmx.ChunkFigures;
import org.opendedup.sar.volume.care.ChunkSearch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code sdfscli VOLUME chunk}: a stored chunk with its reference count. */
@Command(
        name = "chunk",
        description = {
            "Shows a stored chunk: how many references it has, where it is, whether the SSD has it, and damage.",
            "",
            "A chunk is found by its fingerprint: the SHA-256 of its bytes, or what SDFS has with the plugin. 'sar",
            "explain FILE --chunks' lists the first digits for the chunks of a file."
        },
        footer = {
            "Asks the fingerprint index of the mounted volume, and changes nothing. An index of class chunkstash or",
            "silo, or of an encrypted volume, finds only whole fingerprints; silo may miss some.",
            "",
            "Exit codes:  0 found, 1 no such chunk is stored, or failed, 2 a chunk that was found is damaged",
            "",
            "Examples:",
            "  sdfscli pool0 chunk 9f86d081884c7d65",
            "  sdfscli pool0 chunk $(head -c 4096 disk.img | sha256sum | cut -d' ' -f1)   # with --hash-type=SHA256"
        })
final class ChunkCommand extends VolumeCommand {
    @Parameters(
            paramLabel = "HASH",
            description = "Fingerprint in hexadecimal, or its first digits; of these, up to " + ChunkSearch.MOST
                    + " chunks are shown, and whether there are more.")
    @Nullable
    String hash;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        Map<String, Object> answer =
                cli().ask(ChunkControl.COMMAND, Map.of(ChunkControl.FINGERPRINT, String.valueOf(hash)));
        List<ChunkFigures> found = Json.objects(answer, ChunkControl.CHUNKS).stream()
                .map(chunk -> Json.record(chunk, ChunkFigures.class))
                .toList();
        if (found.isEmpty() && !cli().json) {
            throw new CommandFailedException("no chunk is stored whose fingerprint begins with " + hash);
        }
        String text = found.stream().map(ChunkCommand::text).collect(Collectors.joining("\n\n"));
        String more = "\n\nMore fingerprints begin with " + hash + ": give more digits to see their chunks.";
        print(named(answer), Boolean.TRUE.equals(answer.get(ChunkControl.MORE)) ? text + more : text);
        return found.isEmpty()
                ? ExitCode.FAILED
                : found.stream().anyMatch(ChunkFigures::damaged) ? ExitCode.DAMAGED : ExitCode.OK;
    }

    private static String text(ChunkFigures chunk) {
        return "chunk " + chunk.fingerprint()
                + "\n  references  " + chunk.references()
                + "\n  length      " + ByteSize.exact(chunk.lengthBytes())
                + "\n  place       container " + chunk.container() + ", slot " + chunk.slot()
                + (chunk.frame() < 0 ? "" : ", frame " + chunk.frame()) + ", in pack " + chunk.pack()
                + "\n  on the SSD  " + (chunk.onSsd() ? "yes" : "no")
                + "\n  damaged     " + (chunk.damaged() ? "yes" : "no");
    }
}
