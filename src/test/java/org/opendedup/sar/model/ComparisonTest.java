package org.opendedup.sar.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.volume.posix.RenameMode;

/** Tests the model test: the model equals itself, and a model with a fault is detected. */
class ComparisonTest {
    private static final int OPS = 1500;

    static LongStream seeds() {
        return TestSeed.upTo(1);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void theModelAgreesWithItself(long seed) throws IOException {
        new Comparison(ModelFileSystem::new).check(seed, OPS, getClass());
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void aWriteThatForgetsItsLastByteIsFoundAndShrunk(long seed) throws IOException {
        Comparison comparison = new Comparison(ForgetfulFileSystem::new);
        List<Op> ops = new OpGenerator(seed, true).ops(OPS);

        Optional<Comparison.Difference> difference = comparison.run(ops);
        assertTrue(difference.isPresent());
        List<Op> shrunk = comparison.shrink(
                ops.subList(0, difference.get().index() + 1), difference.get().op());

        assertTrue(comparison.run(shrunk).isPresent());
        assertTrue(shrunk.size() <= 8, () -> "shrunk to " + shrunk);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void aRenameThatReplacesAgainstItsWordIsFound(long seed) throws IOException {
        assertTrue(new Comparison(CarelessRename::new)
                .run(new OpGenerator(seed, true).ops(OPS))
                .isPresent());
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void aHoleThatHidesDataIsFound(long seed) throws IOException {
        assertFound(seed, handle -> new HandleDecorator(handle) {
            @Override
            public long seekData(long offset) throws IOException {
                return Math.min(super.seekData(offset) + 4096, super.seekHole(offset));
            }
        });
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void aCopyFromTheWrongPlaceIsFound(long seed) throws IOException {
        assertFound(seed, handle -> new HandleDecorator(handle) {
            @Override
            public long copy(long from, FileSystem.Handle target, long to, long length) throws IOException {
                long copied = super.copy(from, target, to, length);
                return copied < 2 ? copied : 1 + super.copy(from, target, to + 1, copied - 1);
            }
        });
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void aPunchThatLeavesItsLastByteIsFound(long seed) throws IOException {
        assertFound(seed, handle -> new HandleDecorator(handle) {
            @Override
            public void zero(long offset, long length, boolean keepSize) throws IOException {
                super.zero(offset, Math.max(1, length - 1), keepSize);
                super.allocate(offset, length, keepSize);
            }
        });
    }

    private static void assertFound(long seed, UnaryOperator<FileSystem.Handle> fault) throws IOException {
        Comparison comparison = new Comparison(() -> new ModelFileSystem() {
            @Override
            public Handle open(long inode, boolean writable) throws IOException {
                return fault.apply(super.open(inode, writable));
            }
        });
        assertTrue(comparison.run(new OpGenerator(seed, true).ops(OPS)).isPresent());
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void theGeneratorMakesEveryKindOfOpAndMostSucceed(long seed) {
        List<Op> ops = new OpGenerator(seed, true).ops(OPS);
        Map<String, Long> kinds = ops.stream()
                .collect(Collectors.groupingBy(
                        op -> op.getClass().getSimpleName(), TreeMap::new, Collectors.counting()));
        assertEquals(Op.class.getPermittedSubclasses().length, kinds.size(), kinds::toString);

        OpRunner runner = new OpRunner(new ModelFileSystem());
        List<String> answers = ops.stream().map(runner::run).toList();
        assertFalse(answers.stream().anyMatch(answer -> answer.startsWith("FAILED")));
        long refused = answers.stream().filter(answer -> answer.startsWith("E")).count();
        assertTrue(refused < OPS / 2 && refused > OPS / 50, () -> refused + " refused");
    }

    @Test
    void theSameSeedMakesTheSameOps() {
        assertEquals(new OpGenerator(7, true).ops(200), new OpGenerator(7, true).ops(200));
    }

    /** A fault: a write that crosses a 4 KiB border does not change its last byte. */
    private static final class ForgetfulFileSystem extends ModelFileSystem {
        @Override
        public Handle open(long inode, boolean writable) throws IOException {
            Handle handle = super.open(inode, writable);
            return new ForgetfulHandle(handle);
        }
    }

    private static final class ForgetfulHandle extends HandleDecorator {
        ForgetfulHandle(FileSystem.Handle handle) {
            super(handle);
        }

        @Override
        public void write(long offset, ByteBuffer source) throws IOException {
            int last = source.limit() - 1;
            ByteBuffer kept = ByteBuffer.allocate(1);
            if (source.remaining() > 4096 && read(offset + source.remaining() - 1, kept) == 1) {
                source.put(last, kept.get(0));
            }
            super.write(offset, source);
        }
    }

    /** A fault: NO_REPLACE replaces. */
    private static final class CarelessRename extends ModelFileSystem {
        @Override
        public void rename(long directory, byte[] name, long newDirectory, byte[] newName, RenameMode mode)
                throws IOException {
            RenameMode carried = mode == RenameMode.NO_REPLACE ? RenameMode.REPLACE : mode;
            super.rename(directory, name, newDirectory, newName, carried);
        }
    }
}
