package org.opendedup.sar.sim.tddfs.trace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileTraceTextTest {
    @TempDir
    Path folder;

    private FileTrace read(String text) throws IOException {
        return FileTraceText.read(Files.writeString(folder.resolve("trace.csv"), text));
    }

    @Test
    void everyKindOfLineIsRead() throws IOException {
        FileTrace trace = read("# two files\nfile,a b,100\nfile,/c,50\n\nread,/c,10,40\nwrite,a b,100,5\ncreate,new,7\n"
                + "delete,/c\n");
        assertArrayEquals(new long[] {100, 50, 0}, trace.sizes());
        assertEquals(
                List.of(
                        new FileRequest(FileRequest.Kind.READ, 1, 10, 40),
                        new FileRequest(FileRequest.Kind.WRITE, 0, 100, 5),
                        new FileRequest(FileRequest.Kind.CREATE, 2, 0, 7),
                        new FileRequest(FileRequest.Kind.DELETE, 1, 0, 0)),
                trace.requests());
    }

    @Test
    void aGeneratedTraceIsReadAsItWasWritten() throws IOException {
        FileTrace made = TraceGenerator.make(TraceShape.VAR, new TraceGenerator.Mix(0.02, 0.45, 1, 1));
        StringWriter text = new StringWriter();
        FileTraceText.write(made, text);
        FileTrace read = read(text.toString());
        assertArrayEquals(made.sizes(), read.sizes());
        assertEquals(made.requests(), read.requests());
    }

    @Test
    void aWrongLineIsNamed() {
        for (String line : List.of(
                "open,a",
                "read,a,0",
                "read,b,0,1",
                "read,a,90,11",
                "write,a,101,1",
                "file,a,10",
                "read,a,-1,1",
                "create,a,x")) {
            IOException refused = assertThrows(IOException.class, () -> read("file,a,100\n" + line + "\n"), line);
            assertTrue(String.valueOf(refused.getMessage()).contains("trace.csv, line 2: "), refused::toString);
        }
    }
}
