package org.opendedup.sar.sdfs.fuse.kernel;

import com.kenai.jffi.CallContext;
import com.kenai.jffi.CallingConvention;
import com.kenai.jffi.Invoker;
import com.kenai.jffi.Library;
import com.kenai.jffi.Type;
import java.util.Arrays;

/**
 * A function of the C library that takes six whole numbers of 64 bits and returns one. It is called by jffi directly,
 * because the stubs that jnr-ffi 2.3.4 makes for such functions pass a wrong sixth argument (seen on x86-64). A call
 * allocates no object. The error number is kept as for other calls.
 */
final class SixNumbers {
    private static final CallContext CONTEXT =
            CallContext.getCallContext(Type.SINT64, numbers(), CallingConvention.DEFAULT, true);

    private final long function;

    SixNumbers(String name) {
        function = Library.getDefault().getSymbolAddress(name);
        if (function == 0) {
            throw new UnsatisfiedLinkError("the C library has no " + name);
        }
    }

    private static Type[] numbers() {
        Type[] types = new Type[6];
        Arrays.fill(types, Type.SINT64);
        return types;
    }

    long call(long first, long second, long third, long fourth, long fifth, long sixth) {
        return Invoker.getInstance().invokeL6(CONTEXT, function, first, second, third, fourth, fifth, sixth);
    }
}
