/* What Go's runtime wants of Windows 10 and Wine 8 does not have: a bcryptprimitives.dll with ProcessPrng. It is made
   for the tests under Wine alone; no product contains it. */
#include <windows.h>

/* RtlGenRandom of advapi32, by the name that it is exported under. */
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG size);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size)
{
	return SystemFunction036(data, (ULONG)size);
}
